// The functions for machines with AVX-512 and VPOPCNTDQ.
#include "word_avx512.hpp"
// The word comes first: in the checks its header of intrinsics is emulated.
#include "functions.hpp"

constinit const localbayes::Isa localbayes::isa_avx512 = localbayes::functions<localbayes::Avx512>("avx512");
