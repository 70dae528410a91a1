#include "block_bindings.hpp"

template void define_blocks<float>(nb::module_&);
