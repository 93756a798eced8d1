// The functions for machines with AVX2.
#include "word_avx2.hpp"
// The word comes first: in the checks its header of intrinsics is emulated.
#include "functions.hpp"

constinit const localbayes::Isa localbayes::isa_avx2 = localbayes::functions<localbayes::Avx2>("avx2");
