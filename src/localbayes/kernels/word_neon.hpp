// 128-bit words of 64-bit ARM; a popcount is an instruction on bytes.
#pragma once
#include <arm_neon.h>

#include <cstdint>

#include "word_portable.hpp"

namespace localbayes {
namespace {

// What is not written here is as on any machine.
struct Neon : Portable {
    using Vec = uint64_t __attribute__((vector_size(16)));
    struct Sum {
        uint8x16_t bytes = vdupq_n_u8(0);
    };  // at most 31 additions fit a byte; a tile has 8
    static constexpr int kWords = 2, kTile = 8, kColumns = 4;
    static Vec load(const uint64_t* p) { return Vec(vld1q_u64(p)); }
    static bool is_zero(Vec x) { return vmaxvq_u32(uint32x4_t(x)) == 0; }
    static Vec popcounts(Vec x) { return Vec(vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(vcntq_u8(uint8x16_t(x)))))); }
    using Split = Vec;
    static Split split(Vec x) { return x; }
    static void add_popcount(Sum& sum, Split a, Split b) {
        sum.bytes = vaddq_u8(sum.bytes, vcntq_u8(uint8x16_t(a & b)));
    }
    static void add_values(int32_t* out, const Sum (&sum)[4]) {
        const uint16x8_t ab = vpaddq_u16(vpaddlq_u8(sum[0].bytes), vpaddlq_u8(sum[1].bytes));  // a a a a b b b b
        const uint16x8_t cd = vpaddq_u16(vpaddlq_u8(sum[2].bytes), vpaddlq_u8(sum[3].bytes));
        add(out, vpaddlq_u16(vpaddq_u16(ab, cd)));
    }
    static void add_popcounts(int32_t* out, uint64_t rows, const uint64_t* columns) {
        const Vec low = popcounts(load(columns) & rows), high = popcounts(load(columns + 2) & rows);
        add(out, vcombine_u32(vmovn_u64(uint64x2_t(low)), vmovn_u64(uint64x2_t(high))));
    }

private:
    static void add(int32_t* out, uint32x4_t four) { vst1q_s32(out, vaddq_s32(vld1q_s32(out), int32x4_t(four))); }
};

}  // namespace
}  // namespace localbayes
