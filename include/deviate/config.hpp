// SPDX-License-Identifier: Apache-2.0
/// \file config.hpp
/// \brief Every macro of the library: execution space, inlining, version, and the compiler flags it refuses.
///
/// Nothing else in the library defines a macro, and this header includes nothing of ours.
#pragma once

/// \def DEVIATE_VERSION_MAJOR
/// \brief Semantic version of the library; the build system reads it from here.
#define DEVIATE_VERSION_MAJOR 0
/// \def DEVIATE_VERSION_MINOR
/// \brief See DEVIATE_VERSION_MAJOR.
#define DEVIATE_VERSION_MINOR 1
/// \def DEVIATE_VERSION_PATCH
/// \brief See DEVIATE_VERSION_MAJOR.
#define DEVIATE_VERSION_PATCH 0

/// \def DEVIATE_HD
/// \brief Marks a function that runs on host and CUDA device, and is inlined on both.
///
/// Inlining is forced because a value in a vector register or a site object that is empty must cost nothing, and because
/// the same text must give the same machine operations in every caller.

/// \def DEVIATE_HD_LAMBDA
/// \brief The same for a lambda inside such a function.
#if defined(__CUDACC__)
#define DEVIATE_HD __host__ __device__ __forceinline__
#define DEVIATE_HD_LAMBDA  // nvcc gives a lambda the execution space of the function around it
#else
#define DEVIATE_HD inline __attribute__((always_inline))
#define DEVIATE_HD_LAMBDA __attribute__((always_inline))
#endif

/// \def DEVIATE_BLOCK
/// \brief Marks a function of a block of work: it runs on host and CUDA device, and is large enough not to be forced inline.
#if defined(__CUDACC__)
#define DEVIATE_BLOCK __host__ __device__
#else
#define DEVIATE_BLOCK
#endif

/// \def DEVIATE_UNROLL
/// \brief Unrolls the following loop of constant trip count whole, so that an array of accumulators stays in registers.
#if defined(__CUDA_ARCH__)
#define DEVIATE_UNROLL _Pragma("unroll")
#elif defined(__CUDACC__)
#define DEVIATE_UNROLL  // nvcc's host pass knows neither pragma
#elif defined(__clang__)
#define DEVIATE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define DEVIATE_UNROLL _Pragma("GCC unroll 32")
#endif

/// \def DEVIATE_ON_DEVICE
/// \brief 1 while device code is being generated, else 0.
#if defined(__CUDA_ARCH__)
#define DEVIATE_ON_DEVICE 1
#else
#define DEVIATE_ON_DEVICE 0
#endif

/// \def DEVIATE_NATIVE_FMA
/// \brief 1 where the processor has a fused multiply-add of its own; elsewhere it is computed by way of double.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || DEVIATE_ON_DEVICE
#define DEVIATE_NATIVE_FMA 1
#else
#define DEVIATE_NATIVE_FMA 0
#endif

/// \def DEVIATE_FMA_BUILTIN
/// \brief 1 where a vector's fused multiply-add has to be named to the compiler: g++ makes one instruction of a loop over
/// the lanes in small functions only.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__FMA__) && !defined(__CUDACC__)
#define DEVIATE_FMA_BUILTIN 1
#else
#define DEVIATE_FMA_BUILTIN 0
#endif

// Error-free transformations, the two-step argument reduction of exp and the fixed-quantum rounding of subnormals are
// algebraically the identity; value-changing optimisations delete them. A wrong answer is worse than none.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error \
    "deviate computes with error-free transformations, and tells NaN apart, which -ffast-math and -ffinite-math-only delete: compile this file without them"
#endif

/// \def DEVIATE_NATIVE_VECTOR_BYTES
/// \brief Width in bytes of the widest vector register the host compiler may use. It sets speed, never bits.
#if defined(__AVX512F__)
#define DEVIATE_NATIVE_VECTOR_BYTES 64
#elif defined(__AVX__)
#define DEVIATE_NATIVE_VECTOR_BYTES 32
#else
#define DEVIATE_NATIVE_VECTOR_BYTES 16
#endif

/// \def DEVIATE_VECTOR_TYPES
/// \brief 1 where the compiler has vector types; nvcc has none in functions that device code may call. May be set to 0.
#if defined(DEVIATE_VECTOR_TYPES)
#elif defined(__CUDACC__)
#define DEVIATE_VECTOR_TYPES 0
#else
#define DEVIATE_VECTOR_TYPES 1
#endif

/// \namespace deviate
/// \brief Everything public. `namespace dv = deviate;` is the usual abbreviation.
namespace deviate {}
