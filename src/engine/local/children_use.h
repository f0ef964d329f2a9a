// What a run has used, once all its processes are gone.
#pragma once

#include "engine/local/record.h"

namespace rota::local {

// Adds to the record what this process's children have used that it has waited for, and theirs: as the run's control
// groups have counted it, where they do, which have to be there still.
void add_children_use(RunRecord& record);

}  // namespace rota::local
