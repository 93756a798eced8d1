// Packing rows into bit planes and back, and which instruction sets this machine has.
#include "match.hpp"

namespace localbayes {

Segment::Segment(const uint32_t* sizes_, int m, bool may_miss_) : sizes(sizes_, sizes_ + m), may_miss(may_miss_) {
    first_plane.push_back(0);
    for (const uint32_t size : sizes) first_plane.push_back(first_plane.back() + digits(size, may_miss));
}

template <class Code>
void pack(const Segment& s, const Code* codes, const int64_t* order, int64_t n, uint64_t* words) {
    const size_t m = s.sizes.size(), planes = s.first_plane.back();
    for (int64_t k = 0; k < n; ++k) {
        uint64_t* word = words + k / kBlockRows * planes * kBlockWords + k % kBlockRows / 64;
        const Code* code = codes + order[k] * m;
        for (size_t i = 0; i < m; ++i) {
            uint64_t value = std::min<uint64_t>(code[i], s.sizes[i]);
            for (int p = s.first_plane[i]; p < s.first_plane[i + 1]; ++p, value >>= 1)
                word[size_t(p) * kBlockWords] |= (value & 1) << (k % 64);
        }
    }
}

template void pack(const Segment&, const uint8_t*, const int64_t*, int64_t, uint64_t*);
template void pack(const Segment&, const uint16_t*, const int64_t*, int64_t, uint64_t*);
template void pack(const Segment&, const uint32_t*, const int64_t*, int64_t, uint64_t*);

void unpack(const Segment& s, const int64_t* rows, int64_t n, uint32_t* codes) {
    const size_t planes = s.first_plane.back();
    for (int64_t k = 0; k < n; ++k) {
        const int64_t row = rows[k];
        const uint64_t* word = s.words + row / kBlockRows * planes * kBlockWords + row % kBlockRows / 64;
        for (size_t i = 0; i < s.sizes.size(); ++i) {
            *codes = 0;
            for (int p = s.first_plane[i]; p < s.first_plane[i + 1]; ++p)
                *codes |= uint32_t(word[size_t(p) * kBlockWords] >> (row % 64) & 1) << (p - s.first_plane[i]);
            ++codes;
        }
    }
}

std::vector<const Isa*> available_isas() {
    std::vector<const Isa*> found;
#ifdef LOCALBAYES_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vpopcntdq"))
        found.push_back(&isa_avx512);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
        found.push_back(&isa_avx2);
#endif
    found.push_back(&isa_portable);
    return found;
}

}  // namespace localbayes
