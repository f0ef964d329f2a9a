// How wide the terminal is to which something is printed.
#pragma once

#include <cstddef>

namespace rota::cli {

// Columns of the terminal behind a descriptor; 0: it is none, or does not tell.
std::size_t terminal_width(int descriptor);

}  // namespace rota::cli
