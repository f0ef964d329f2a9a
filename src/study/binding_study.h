// The experiments of Li, Zhu, Liu and Qian, "Accelerator support in YARN cluster" (2016), made again: three matrix
// decompositions on four nodes of which some have a GPU, under four ways to bind nodes or tasks to accelerators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "policy/bind/bind.h"
#include "study/study.h"

namespace rota::study {

// One application on one cluster in one rack; the first nodes have the accelerators, one each.
struct BindingCase {
  std::string application = "LU";  // LU, QR or Cholesky
  std::int64_t nodes = 4;
  std::vector<std::int32_t> speeds;  // of the accelerators, per mille
  std::int64_t tasks = 100;
  std::int64_t intensity = 1;  // times the work of a task
  std::int64_t megabytes = 1;  // each way
  Duration start_up{0};
  bool overlap = true;  // of the stages in a container
};

// How many times as fast as on the CPUs of the same nodes alone, start-up included in both.
Result<double> speed_up(const BindingCase& setting, Bind bind);

struct BindingRow {
  BindingCase setting;
  std::vector<std::pair<Bind, double>> speed_ups;
};

struct BindingFindings {
  std::vector<BindingRow> rows;
  std::vector<report::Cell> cells;
  std::vector<report::Plot> plots;
  std::vector<BindingCase> used;  // in the cells' commands
};

Result<BindingFindings> study_binding();

// Of the racks with 1 .. 6 balanced stacks of 0 .. 24 nodes in all: in how many stack sizes differ by more than one
// after another accelerator node has come.
std::int64_t unbalanced_racks(NodeBinding::Stop stop);

Study binding_study();  // as a subcommand

}  // namespace rota::study
