// What few jobs ask for, or what happens to few, as text in a row of the history: JSON with what there is, empty for
// most.
#pragma once

#include <string>
#include <string_view>

#include "store/job_history.h"

namespace rota::store {

std::string asked_text(const RareRequest& asked);
// What it does not say, or says otherwise than asked_text would, was not asked for.
RareRequest read_asked(std::string_view text);

}  // namespace rota::store
