// The command line with which a job was submitted, as the column SubmitLine of sacct has it: the words of the call with
// single blanks between them and without their quotes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/licence_names.h"

namespace rota::log {

// How many tasks of its array may run at once, as the last `--array=1-200%4` among sbatch's own options says it; 0:
// none does. Words behind the first that is no option, and no value of one, are the script's. Where a value has blanks
// in it that is not known from the line, which is then read no further.
std::uint32_t throttle_of_submit_line(std::string_view line);

// Whether sbatch's own options say on how many nodes it is to be, or that its processors belong to one process (or
// some) which cannot be on two: --nodes, --ntasks=1, --cpus-per-task. What a script says is not in the line.
bool submit_line_needs_its_nodes(std::string_view line);

// Whether they say that its processors belong to several processes which may be on any number of nodes: --ntasks=8
// without the others, and --wrap, so that there is no script that might say more.
bool submit_line_goes_anywhere(std::string_view line);

// What sbatch's own options ask for of which sacct tells nothing where the site does not account it.
struct SubmitLineAsks {
  std::int64_t gpus = 0;          // in all, as --gpus says; 0: not told
  std::int64_t gpus_of_node = 0;  // --gres=gpu:a100:2, --gpus-per-node
  std::int64_t gpus_of_task = 0;  // --gpus-per-task,
  std::int64_t tasks = 0;         // and --ntasks; 0: not told
  std::string_view gpu_type;      // empty: none is named
  std::vector<NamedLicences> licences;
  bool all_memory = false;  // --mem=0: all that its nodes have
};
// What sbatch's own options ask of nodes; empty: nothing.
struct SubmitLineNodes {
  std::string_view constraint;  // --constraint,
  std::string_view among;       // --nodelist
  std::string_view without;     // and --exclude
};
SubmitLineNodes submit_line_nodes(std::string_view line);
// Views are valid as long as the line is.
SubmitLineAsks submit_line_asks(std::string_view line);

}  // namespace rota::log
