// The functions for any machine.
#include "word_portable.hpp"
// The word comes first: in the checks its header of intrinsics is emulated.
#include "functions.hpp"

constinit const localbayes::Isa localbayes::isa_portable = localbayes::functions<localbayes::Portable>("portable");
