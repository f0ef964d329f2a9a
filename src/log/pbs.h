// Accounting logs of OpenPBS, PBS Professional and Torque (server_priv/accounting/YYYYMMDD), a record a line:
//
//   03/01/2024 12:00:41;E;1234.server;user=anna group=chem account="p1" queue=workq ctime=1709290800 qtime=1709290800
//   etime=1709290800 start=1709290841 exec_host=n1/0*8 Resource_List.select=1:ncpus=8:mem=16gb
//   Resource_List.walltime=01:00:00 end=1709294441 Exit_status=0 resources_used.walltime=01:00:00 run_count=1
//
// (all in one line). Files of several days are read one after the other if they are put together in order. Jobs are
// made of E records; Q, S, D, A and R records tell what became of the others, s and z that a job was suspended. Their
// times are of the server's clock, without a zone; only differences of them are used. docs/workloads.md has the rules.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "log/accounted_jobs.h"
#include "log/line_blocks.h"
#include "log/swf.h"

namespace rota::log {

bool looks_like_pbs(std::string_view line);

// Errors name file and line. With skip_bad_rows, records that cannot be read are counted and dropped. Each record is a
// row: one that becomes a job, or one that is told to be dropped.
Result<AccountedLog> read_pbs_log(LineBlocks blocks, const SwfOptions& options);

}  // namespace rota::log
