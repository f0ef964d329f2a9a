// Browsers ask on behalf of any page that somebody has open. Where the kernel says who asks, as at a Unix socket that
// `ssh -L` or a proxy leads to, such a page would act with that user's rights.
#pragma once

#include <string>

#include "api/http.h"

namespace rota::api {

// Why a request is refused that a page of somebody else makes, or a name that somebody else's DNS gives to this
// computer; empty: it may be answered. The page of the service itself, without what it shows, anybody may ask for.
std::string foreign_page(const Request& request);

}  // namespace rota::api
