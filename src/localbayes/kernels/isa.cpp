// Which instruction sets this machine has.
#include "isa.hpp"

namespace localbayes {

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
#ifdef LOCALBAYES_NEON
    found.push_back(&isa_neon);
#endif
    found.push_back(&isa_portable);
    return found;
}

}  // namespace localbayes
