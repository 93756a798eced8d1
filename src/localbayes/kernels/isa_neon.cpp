// The functions for 64-bit ARM, every machine of which has NEON.
#include "word_neon.hpp"
#include "functions.hpp"

constinit const localbayes::Isa localbayes::isa_neon = localbayes::functions<localbayes::Neon>("neon");
