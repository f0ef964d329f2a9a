// `rota serve --engine slurm`: a service beside a Slurm cluster that it only reads. What the cluster is, and which
// policy it has, Slurm itself says, as to `rota import slurm --live`.
#pragma once

#include <string>

#include "base/result.h"
#include "serve/service.h"

namespace rota::cli {

// Asks Slurm what the cluster is, and sets engine, cluster and policy of a service with this state folder; a policy
// that is named already stays. What Slurm printed is kept in the folder `slurm` there: should it not answer the next
// time, the cluster is taken as it was. Gives what people ought to know, as sentences. May wait for Slurm.
Result<std::vector<std::string>> watch_slurm(serve::ServiceOptions& options);

}  // namespace rota::cli
