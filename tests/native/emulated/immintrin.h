// The intrinsics that isa_avx512.cpp calls, written out for machines that lack them, so that its code is
// checked everywhere. Found before the compiler's own header of this name when building the check.
#pragma once
#include <cstdint>
#include <cstring>

using __m128i = long long __attribute__((vector_size(16), may_alias, aligned(1)));
using __m256i = long long __attribute__((vector_size(32), may_alias, aligned(1)));
using __m512i = long long __attribute__((vector_size(64), may_alias, aligned(1)));
using __m256d = double __attribute__((vector_size(32), may_alias, aligned(1)));
using __m512d = double __attribute__((vector_size(64), may_alias, aligned(1)));
using __mmask8 = unsigned char;

inline __m512i _mm512_setzero_si512() { return __m512i{}; }
inline __m512i _mm512_loadu_si512(const void* p) {
    __m512i x;
    std::memcpy(&x, p, sizeof x);
    return x;
}
inline void _mm512_storeu_si512(void* p, __m512i x) { std::memcpy(p, &x, sizeof x); }
inline __m512i _mm512_maskz_set1_epi8(uint64_t mask, char byte) {
    char bytes[64];
    for (int k = 0; k < 64; ++k) bytes[k] = mask >> k & 1 ? byte : 0;
    return _mm512_loadu_si512(bytes);
}
inline __m512i _mm512_add_epi64(__m512i a, __m512i b) { return a + b; }
inline __m512i _mm512_set1_epi64(long long x) { return __m512i{x, x, x, x, x, x, x, x}; }
inline __m128i _mm_loadl_epi64(const __m128i* p) {
    __m128i x{};
    std::memcpy(&x, p, 8);
    return x;
}
inline __m256d _mm256_loadu_pd(const double* p) {
    __m256d x;
    std::memcpy(&x, p, sizeof x);
    return x;
}
inline __m512d _mm512_maskz_broadcast_f64x4(__mmask8, __m256d a) {
    return __m512d{a[0], a[1], a[2], a[3], a[0], a[1], a[2], a[3]};
}
inline __m512i _mm512_maskz_cvtepu8_epi64(__mmask8, __m128i a) {
    __m512i x;
    for (int k = 0; k < 8; ++k) x[k] = a[0] >> 8 * k & 255;
    return x;
}
inline __m512d _mm512_permutex2var_pd(__m512d a, __m512i lanes, __m512d b) {
    __m512d x;
    for (int k = 0; k < 8; ++k) x[k] = lanes[k] & 8 ? b[lanes[k] & 7] : a[lanes[k] & 7];
    return x;
}
inline __m512d _mm512_mask_blend_pd(__mmask8 mask, __m512d a, __m512d b) {
    for (int k = 0; k < 8; ++k)
        if (mask >> k & 1) a[k] = b[k];
    return a;
}
inline __m512d _mm512_mask_add_pd(__m512d otherwise, __mmask8 mask, __m512d a, __m512d b) {
    for (int k = 0; k < 8; ++k)
        if (mask >> k & 1) otherwise[k] = a[k] + b[k];
    return otherwise;
}
inline __m512i _mm512_popcnt_epi64(__m512i a) {
    for (int k = 0; k < 8; ++k) a[k] = __builtin_popcountll(a[k]);
    return a;
}
// Bit 4 a + 2 b + c of `table`, for every bit of the three.
inline __m512i _mm512_ternarylogic_epi64(__m512i a, __m512i b, __m512i c, int table) {
    __m512i x{};
    for (int k = 0; k < 8; ++k)
        if (table >> k & 1) x |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return x;
}
inline __mmask8 _mm512_test_epi64_mask(__m512i a, __m512i b) {
    unsigned mask = 0;
    for (int k = 0; k < 8; ++k) mask |= unsigned((a[k] & b[k]) != 0) << k;
    return __mmask8(mask);
}

inline __m256i _mm512_maskz_extracti64x4_epi64(__mmask8, __m512i a, int high) {
    return __m256i{a[4 * high], a[4 * high + 1], a[4 * high + 2], a[4 * high + 3]};
}

inline __m256i _mm256_popcnt_epi64(__m256i a) {
    for (int k = 0; k < 4; ++k) a[k] = __builtin_popcountll(a[k]);
    return a;
}
inline __m256i _mm256_unpacklo_epi64(__m256i a, __m256i b) { return __m256i{a[0], b[0], a[2], b[2]}; }
inline __m256i _mm256_unpackhi_epi64(__m256i a, __m256i b) { return __m256i{a[1], b[1], a[3], b[3]}; }
inline __m256i _mm256_setr_epi32(int a, int b, int c, int d, int e, int f, int g, int h) {
    using Eight = int __attribute__((vector_size(32)));
    return __m256i(Eight{a, b, c, d, e, f, g, h});
}
inline __m256i _mm256_permutevar8x32_epi32(__m256i a, __m256i lanes) {
    int from[8], at[8], to[8];
    std::memcpy(from, &a, sizeof from);
    std::memcpy(at, &lanes, sizeof at);
    for (int k = 0; k < 8; ++k) to[k] = from[at[k] & 7];
    std::memcpy(&a, to, sizeof a);
    return a;
}
inline __m128i _mm256_castsi256_si128(__m256i a) { return __m128i{a[0], a[1]}; }
inline __m128i _mm256_extracti128_si256(__m256i a, int high) { return __m128i{a[2 * high], a[2 * high + 1]}; }

inline __m128i _mm_loadu_si128(const __m128i* p) {
    __m128i x;
    std::memcpy(&x, p, sizeof x);
    return x;
}
inline void _mm_storeu_si128(__m128i* p, __m128i x) { std::memcpy(p, &x, sizeof x); }
inline __m128i _mm_add_epi64(__m128i a, __m128i b) { return a + b; }
inline __m128i _mm_cvtepu16_epi32(__m128i a) {
    uint16_t from[8];
    std::memcpy(from, &a, sizeof from);
    using Four = int __attribute__((vector_size(16)));
    return __m128i(Four{from[0], from[1], from[2], from[3]});
}
inline __m256i _mm256_cvtepu16_epi32(__m128i a) {
    uint16_t from[8];
    std::memcpy(from, &a, sizeof from);
    return _mm256_setr_epi32(from[0], from[1], from[2], from[3], from[4], from[5], from[6], from[7]);
}
inline __m128i _mm_add_epi32(__m128i a, __m128i b) {
    using Four = int __attribute__((vector_size(16)));
    return __m128i(Four(a) + Four(b));
}
