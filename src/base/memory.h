// A hint to the system about memory, for tables of many megabytes that are filled from one end to the other.
#pragma once

#include <cstddef>

namespace rota {

// Asks for large pages behind [begin, begin + bytes): fewer page faults, which cost a fifth of the time of reading a
// big log. Only a hint; memory that is never touched stays free, up to one large page (2 MiB) at the end.
void prefer_large_pages(const void* begin, std::size_t bytes);

}  // namespace rota
