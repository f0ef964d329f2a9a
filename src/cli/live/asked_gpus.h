// Accelerators as a submission asks for them: "2", "a100:2", "gpu:2", "gpu:a100:2", "gpu"; "0" and "none": none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/live/submit_options.h"

namespace rota::cli {

struct AskedGpus {
  std::int64_t number = 0;
  std::string type;  // empty: any
};

// In a list of --gres, which names many things, GPUs of one type are summed; what Rota has not is an error, unless its
// number is 0.
Result<AskedGpus> asked_gpus(const SubmitValue& value);

// What a job asks for in all, on each node and for each task, as far as it says so.
struct GpuWishes {
  std::optional<AskedGpus> all, on_node, each;
};

struct JobShape {
  std::int64_t nodes = 1, most_nodes = 1, tasks = 1;
  bool says_nodes = false, says_tasks = false;
};

// As in Slurm two of these numbers say a third: --gpus=8 --gpus-per-node=4 is two nodes, --gpus=4 --gpus-per-task=1
// four tasks. Fails with a sentence where they contradict one another.
Result<void> fit_to_gpus(const GpuWishes& wishes, JobShape& shape);

}  // namespace rota::cli
