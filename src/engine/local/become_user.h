// Takes the rights of the user that a job runs as, and gives all others up.
#pragma once

#include "control/run_request.h"

namespace rota::local {

// For good. Away from the service's own user it takes root. False: errno says why not, and rights of root may be left.
bool become_user(const RunRequest& run);

}  // namespace rota::local
