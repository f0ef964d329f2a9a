// What a service is to keep free, by date.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/machine.h"

namespace rota::site {

// The [[reservations]] whose times are dates, of the text of a file that has been read into the machine: their times
// are Unix times. Fails with "FILE:LINE: ..." on the first that is wrong.
Result<std::vector<Reservation>> dated_reservations(std::string_view text, const std::string& shown,
                                                    const Machine& machine);

}  // namespace rota::site
