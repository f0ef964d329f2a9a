// The QOS of a Slurm cluster and the shares that its accounts and users have, from what `sacctmgr -P show` prints to
// the terms of a cluster file.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "site/made_up_names.h"
#include "site/slurm_nodes.h"

namespace rota::site {

// [[qos]] tables, of what sacctmgr prints of QOS (kQosFormat in site/slurm_table.h).
// With `names`, here and below, the tables have made-up ones.
Result<std::string> qos_of_slurm(std::string_view text, const std::string& shown, SlurmRemarks& remarks,
                                 MadeUpNames* names = nullptr);

// [[accounts]] tables, of what sacctmgr prints of associations (kAssociationFormat). Where there are several clusters,
// those of the one that is named count.
Result<std::string> accounts_of_slurm(std::string_view text, const std::string& shown, std::string_view cluster,
                                      SlurmRemarks& remarks, MadeUpNames* names = nullptr);

}  // namespace rota::site
