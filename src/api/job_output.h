// A job's output as its user would read it.
#pragma once

#include "api/routes.h"

namespace rota::api {

void send_output(const Ask& ask, JobId id);

}  // namespace rota::api
