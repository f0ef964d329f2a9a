// Which process is the supervisor of a run: it keeps the record's file locked for as long as it lives, and the kernel
// knows by whom. So one that hangs can be ended, and nobody else who has its number by now.
#pragma once

#include <string>

namespace rota::local {

// By the supervisor, once. Nobody else ever locks it.
void hold_record(int file);

// Kills the supervisor of the run with this record, if there is one, and waits until it is gone, a second at most. It
// begins nothing any more in any case.
void end_holder(int folder, const std::string& name);

}  // namespace rota::local
