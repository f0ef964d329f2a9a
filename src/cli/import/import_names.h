// --anonymous: what a log calls people, accounts, QOS, partitions, nodes, licences and its files by.
#pragma once

#include "log/job_attributes.h"
#include "log/sacct.h"
#include "site/made_up_names.h"

namespace rota::cli {

// With the numbers that the jobs of the log have: user 12 is "user12".
site::MadeUpNames made_up_names(const log::SacctLog& log);

// Its exports become "export1", "export2", ...
void rename(log::SacctLog& log, site::MadeUpNames& names);
void rename(log::JobAttributes& asks, site::MadeUpNames& names);

}  // namespace rota::cli
