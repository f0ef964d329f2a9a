// What fair share and other priorities of jobs go by, of a cluster file: its [[qos]], [[accounts]] and [[limits]].
#pragma once

#include "base/result.h"
#include "model/machine.h"
#include "site/cluster_build.h"

namespace rota::site {

Result<void> add_shares(const ClusterDraft& draft, Machine& machine);

}  // namespace rota::site
