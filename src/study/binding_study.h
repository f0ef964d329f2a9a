// The experiments of Li, Zhu, Liu and Qian, "Accelerator support in YARN cluster" (2016), made again: three matrix
// decompositions and the features of many images on four nodes of which some have a GPU, under each way to bind nodes
// or tasks to accelerators.
#pragma once

#include <utility>
#include <vector>

#include "base/result.h"
#include "study/binding_case.h"
#include "study/study.h"

namespace rota::study {

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

Study binding_study();  // as a subcommand

}  // namespace rota::study
