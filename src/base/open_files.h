// How many files this process may have open at once (RLIMIT_NOFILE). What it starts for others has the limit with which
// it began itself: programs such as those that use select() rely on that.
#pragma once

#include <cstddef>

namespace rota {

// As many as the system lets it have. Not at the same time as the others here.
void raise_open_files();
// How many it may have now.
std::size_t most_open_files();
// As many as before the first time that it was raised; false: it never was, and nothing is changed. May be called
// between fork and exec.
bool restore_open_files();

}  // namespace rota
