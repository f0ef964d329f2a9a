// What a container says of itself, for STATUS.
#pragma once

#include <string>

#include "accel/admission.h"
#include "accel/pipeline.h"

namespace rota::accel {

// An object of JSON (docs/accelerators.md lists the members). By the reader thread.
std::string state_text(const Pipeline& pipeline, const Admission& admission, std::size_t clients);

}  // namespace rota::accel
