// Browsers ask on behalf of any page that their user has open. Where the kernel names the user that asks, as at a Unix
// socket that `ssh -L` or a proxy leads to, such a page would act with that user's rights.
#pragma once

#include <string>

#include "api/http.h"

namespace rota::api {

// Why a request is refused that a foreign page makes, or that calls this computer by a name which a foreign DNS may
// give it; empty: it may be answered. Any page may ask for the service's own page, without what it shows.
std::string foreign_page(const Request& request);

}  // namespace rota::api
