// The intrinsics that isa_avx512.cpp calls, written out for machines that lack them, so that its code is
// checked everywhere. Found before the compiler's own header of this name when building the check.
#pragma once
#include <cstdint>
#include <cstring>

using __m256i = long long __attribute__((vector_size(32), may_alias, aligned(1)));
using __m512i = long long __attribute__((vector_size(64), may_alias, aligned(1)));
using __mmask8 = unsigned char;

inline __m512i _mm512_setzero_si512() { return __m512i{}; }
inline __m512i _mm512_loadu_si512(const void* p) {
    __m512i x;
    std::memcpy(&x, p, sizeof x);
    return x;
}
inline __m512i _mm512_add_epi64(__m512i a, __m512i b) { return a + b; }
inline __m512i _mm512_popcnt_epi64(__m512i a) {
    for (int k = 0; k < 8; ++k) a[k] = __builtin_popcountll(a[k]);
    return a;
}
inline __mmask8 _mm512_test_epi64_mask(__m512i a, __m512i b) {
    unsigned mask = 0;
    for (int k = 0; k < 8; ++k) mask |= unsigned((a[k] & b[k]) != 0) << k;
    return __mmask8(mask);
}
inline long long _mm512_reduce_add_epi64(__m512i a) {
    return ((a[0] + a[4]) + (a[1] + a[5])) + ((a[2] + a[6]) + (a[3] + a[7]));
}

inline __m256i _mm256_loadu_si256(const __m256i* p) {
    __m256i x;
    std::memcpy(&x, p, sizeof x);
    return x;
}
inline __m256i _mm256_cmpeq_epi8(__m256i a, __m256i b) {
    using Bytes = signed char __attribute__((vector_size(32)));
    return __m256i(Bytes(a) == Bytes(b));
}
inline int _mm256_movemask_epi8(__m256i a) {
    unsigned mask = 0;
    unsigned char bytes[32];
    std::memcpy(bytes, &a, sizeof bytes);
    for (int k = 0; k < 32; ++k) mask |= unsigned(bytes[k] >> 7) << k;
    return int(mask);
}
inline int _mm_popcnt_u32(unsigned x) { return __builtin_popcount(x); }
