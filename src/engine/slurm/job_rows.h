// What squeue and sacct print of jobs, as rows. Pure. Cells are kept apart, and rows are ended, by a mark that is drawn
// anew for each call: what a user has put into the name of a job cannot pass for a cell or a row of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/job.h"

namespace rota::slurm {

enum class Stage : std::uint8_t { waiting, running, suspended, ended };

// A job, or a task of an array, as Slurm has it. Views are valid as long as the text is. Times are Unix milliseconds;
// -1: Slurm does not say.
struct JobRow {
  std::int64_t id = 0;      // what Slurm calls JobId: of a task that waits that of its array
  std::int64_t array = 0;   // 0: it is no task
  std::int64_t index = -1;  // within the array
  Stage stage = Stage::waiting;
  Outcome outcome = Outcome::unknown;  // of one that has ended
  std::int32_t status = 0;             // likewise, as waitpid(2) gives it
  std::uint32_t uid = UINT32_MAX, gid = UINT32_MAX;
  std::string_view user, account, qos, reason, nodes, licences, features, reservation, name;
  std::string_view dependency;      // "afterok:12(unfulfilled),afterany:13_*(unfulfilled)": see after_of()
  std::string_view required_nodes;  // a host list: it gets these, and perhaps others
  std::string_view partition;       // several, where it waits and may go to any of them
  std::int64_t submit = -1, eligible = -1, start = -1, end = -1;
  Duration limit{0};  // 0: not said; kLongest: none
  std::uint32_t processors = 1;
  std::uint32_t node_count = 0;   // the fewest, of one that waits
  std::uint32_t most_nodes = 0;   // 0: any number
  std::int64_t memory = 0;        // bytes, in all
  std::int64_t accelerators = 0;  // in all
  std::int64_t restarts = 0;
  bool requeue = true;      // it may start over
  bool completing = false;  // it leaves its nodes, to end or to wait again: which of these, its next row says
  bool exclusive = false;   // no other job on its nodes

  // By which Rota names it: Slurm's own number, and for a task one that is above all of these.
  std::int64_t number() const;
};

// As people and sacct call the job with such a number: "12", "13_4".
std::string shown_job(std::int64_t number);

struct JobRows {
  std::vector<JobRow> rows;
  std::int64_t unread = 0;  // rows that make no sense
};

// The commands, for /bin/sh. `mark`: letters and digits, unguessable.
std::string squeue_command(const std::string& mark);
// What has ended since, or (with ids such as "12,13_4") how these stand.
std::string sacct_command(const std::string& mark, const std::string& since);
std::string sacct_command_for(const std::string& mark, const std::vector<std::string>& jobs);

// How many tasks of arrays that wait may run at one time.
std::string throttle_command(const std::string& mark, const std::vector<std::int64_t>& arrays);
std::map<std::int64_t, std::uint32_t> read_throttles(std::string_view text, std::string_view mark);
// What Slurm says a job waits for, as Rota's users write it: "afterok:12 afterany:13"; with "any" among them where one
// will do.
std::string after_of(std::string_view dependency);

// What they printed. Fails where it is cut off, or is no such output at all.
Result<JobRows> read_squeue(std::string_view text, std::string_view mark);
Result<JobRows> read_sacct(std::string_view text, std::string_view mark);

}  // namespace rota::slurm
