// Which process is the supervisor of a run: it keeps the record's file locked for as long as it lives, and the kernel
// knows by which process. So one that hangs can be ended, and no other that has its number by now.
#pragma once

#include <span>
#include <string>

#include "process/descriptor.h"

namespace rota::local {

// The supervisor calls this, once. No other process ever locks the file.
void hold_record(int file);

// Kills the supervisor of the run with this record: it begins nothing any more. What comes back can be waited for, and
// is readable once it is gone; none: no process holds the record.
process::Descriptor kill_holder(int folder, const std::string& name);

// The supervisor's number; 0: no process holds the record.
pid_t record_holder(int folder, const std::string& name);

// For all of these together, a second at most.
void wait_until_gone(std::span<const process::Descriptor> holders);

}  // namespace rota::local
