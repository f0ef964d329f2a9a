// What is left on the disk that holds the state is kept for what has yet to be written down of the jobs that are here:
// a service that cannot write ends.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace rota::serve {

enum class DiskUse : std::uint8_t { submission, start, change };

// Whether there is room for so many bytes more. Starts, and changes by users, may use half of what is kept; submissions
// of operators none of it; those of users leave as much again. Fails with a sentence. Cost: a system call. Any thread.
Result<void> disk_room(const std::string& folder, std::uint64_t bytes, DiskUse use, bool operates);

}  // namespace rota::serve
