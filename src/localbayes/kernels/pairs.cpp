#include <nanobind/nanobind.h>
void bind_pairs(nanobind::module_&) {}
