#include "block_bindings.hpp"

template void define_blocks<double>(nb::module_&);
