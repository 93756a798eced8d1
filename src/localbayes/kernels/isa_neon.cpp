// The functions for 64-bit ARM, every machine of which has NEON.
#include "functions.hpp"
#include "word_neon.hpp"

constinit const localbayes::Isa localbayes::isa_neon = localbayes::functions<localbayes::Neon>("neon");
