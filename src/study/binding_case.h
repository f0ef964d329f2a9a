// One application on one cluster as Li, Zhu, Liu and Qian, "Accelerator support in YARN cluster" (2016), had it: what
// is rehearsed, and the files and the command with which `rota simulate` does it again.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "policy/bind/bind.h"
#include "study/study.h"

namespace rota::study {

// What a task takes on the CPU of a node and on its GPU.
struct Application {
  std::string_view name;
  Duration cpu;
  Duration accelerator;
};

// Measured in the paper for a matrix of 10,000 x 10,000.
inline constexpr std::array<Application, 3> kDecompositions{{{"LU", Duration{55'000}, Duration{6'200}},
                                                             {"QR", Duration{384'100}, Duration{23'200}},
                                                             {"Cholesky", Duration{60'500}, Duration{7'600}}}};

// Features of 500 images. Assumed, since the paper prints no time of its figure 6: 10 ms an image on a CPU, and a GPU
// that is 8 times as fast, as it is for Cholesky.
inline constexpr Application kImages{"images", Duration{5'000}, Duration{625}};

// One application in one rack, whose first nodes have the accelerators.
struct BindingCase {
  std::string application = "LU";  // LU, QR, Cholesky or images
  std::int64_t nodes = 4;
  std::uint32_t processors = 1;             // of each node: so many slots
  std::vector<std::int32_t> speeds = {};    // of the accelerators, per mille
  std::vector<std::uint32_t> devices = {};  // of each of these nodes; empty: one
  std::int64_t tasks = 100;
  std::vector<std::int64_t> of_jobs = {};  // tasks of jobs of one node each, in place of one job on all nodes
  std::int64_t intensity = 1;              // times the work of a task
  std::int64_t megabytes = 1;              // each way
  Duration start_up{0};
  Duration limit{0};      // of a task on a CPU; 0: none
  Duration bind_time{0};  // under Bind::slot
  Duration reduce{0};     // of a second job behind the first, without tasks; 0: there is none
  bool overlap = true;    // of the stages in a container
};

std::vector<std::int32_t> equal_speeds(std::size_t accelerators);

// From the start of the first job to the end of the last.
Result<Duration> makespan(const BindingCase& setting, Bind bind);

// How many times as fast as on the CPUs of the same nodes alone, start-up included in both.
Result<double> speed_up(const BindingCase& setting, Bind bind);

// Under each of the rules, in this order.
std::string command_of(const BindingCase& setting, std::span<const Bind> binds);
// That the commands name.
std::vector<StudyFile> files_of(const std::vector<BindingCase>& cases);

}  // namespace rota::study
