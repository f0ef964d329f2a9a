// How programs are told which accelerators are theirs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/local/cgroups.h"

namespace rota::local {

// NAME=VALUE for the drivers of NVIDIA, AMD and Intel; where a machine has accelerators and the job was given none, the
// first two are told that there are none. `slurms`: in Slurm's words, too.
inline std::vector<std::string> device_settings(const std::vector<std::uint32_t>& devices, bool machine_has_some,
                                                bool slurms) {
  if (devices.empty()) {
    if (!machine_has_some) return {};
    return {"CUDA_VISIBLE_DEVICES=", "ROCR_VISIBLE_DEVICES="};
  }
  const std::string list = listed(devices);
  std::vector<std::string> all{"CUDA_VISIBLE_DEVICES=" + list, "ROCR_VISIBLE_DEVICES=" + list,
                               "ZE_AFFINITY_MASK=" + list};
  if (slurms) all.push_back("SLURM_JOB_GPUS=" + list);
  return all;
}

}  // namespace rota::local
