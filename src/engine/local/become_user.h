// Takes the rights of the user whom a job runs as, and gives all others up.
#pragma once

#include "engine/local/run.h"

namespace rota::local {

// For good. Away from the service's own user it takes root. False: errno says why not, and rights of root may be left.
bool become_user(const Run& run);

}  // namespace rota::local
