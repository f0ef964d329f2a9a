// Which process is the supervisor of a run: it keeps the record's file locked for as long as it lives, and the kernel
// knows by whom. So one that hangs can be ended, and nobody else who has its number by now.
#pragma once

#include <span>
#include <string>

#include "process/descriptor.h"

namespace rota::local {

// By the supervisor, once. Nobody else ever locks it.
void hold_record(int file);

// Kills the supervisor of the run with this record: it begins nothing any more. What comes back can be waited for, and
// is readable once it is gone; none: there is nobody.
process::Descriptor kill_holder(int folder, const std::string& name);

// Its number; 0: there is nobody.
pid_t record_holder(int folder, const std::string& name);

// For people, where the system does not let go of the supervisor with this number.
std::string why_not_ended(pid_t holder);

// For all of these together, a second at most.
void wait_until_gone(std::span<const process::Descriptor> holders);

}  // namespace rota::local
