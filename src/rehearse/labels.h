// What jobs of a workload are called by people: for pages.
#pragma once

#include <memory>

#include "log/workload.h"
#include "report/outcome.h"

namespace rota {

std::shared_ptr<const report::JobLabels> labels_of(const log::Workload& workload);

}  // namespace rota
