// The folder of a service's state: rota.db, and runs/ of the engine.
#pragma once

#include <string>

#include "base/result.h"

namespace rota::serve {

// Makes one that no other user may read. One that is there already is left as it is; it fails where another user could
// change what is in it, and so have jobs run as the service's user.
Result<void> make_folder(const std::string& path);

// Fails where the database has lost all that it held, which the engine's folder tells: a service with a new one would
// not know the jobs that run, and end them.
Result<void> check_not_lost(const std::string& database, const std::string& runs);

}  // namespace rota::serve
