// The figures that policies are compared by, in the order of the terminal's table and the report's.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "report/metrics.h"

namespace rota::report {

enum class Better { neither, lower, higher };

struct Figure {
  const char* group;  // heading over neighbours that share it; "" for none
  const char* name;   // heading
  const char* unit;   // beside it; "" where each cell says its own
  const char* means;  // for readers that do not know the word
  Better better;
  double (*value)(const Summary&);  // NaN where there is none
  std::string (*text)(double);      // never called with NaN
  bool of_some = false;             // it is left out where no summary has it

  std::string shown(const Summary& summary) const;  // "-" where there is none
};

// Those that are told of such summaries.
std::vector<Figure> told(std::span<const Figure> figures, std::span<const Summary> summaries);
std::span<const Figure> service_figures();                // how long jobs waited and how well the cluster was used
std::span<const Figure> promise_figures();                // backfill, kills and promises
std::span<const Figure> fairness_figures();               // between users and between groups
bool tells_fairness(std::span<const Summary> summaries);  // whether there are any of them
std::span<const Figure> power_figures();                  // energy, and how long nodes slept
std::span<const Figure> site_figures();                   // of each site of a federation, and of all
bool tells_sites(std::span<const Summary> summaries);     // whether any was of several
bool tells_power(std::span<const Summary> summaries);     // whether that was metered for any
std::span<const Figure> task_figures();                   // tasks, and the use of accelerators
bool tells_tasks(std::span<const Summary> summaries);     // whether jobs of any had some that were bound

// For each summary whether this figure is the best of them. All false where the figure has no better, where one is
// missing, or where all are the same, be it but for the noise of copies. Where there are copies, their mean decides.
std::vector<bool> best(const Figure& figure, std::span<const Summary> summaries);

// Whether both tell of the same jobs, by number and processors, of one workload on the same number of processors: only
// then are they set side by side. Submission, limits and users may differ, and so may which jobs were rejected.
bool comparable(const Summary& a, const Summary& b);

// How many summaries from `first` on are comparable with it, itself among them.
std::size_t same_workload(std::span<const Summary> summaries, std::size_t first);

// "28,481 jobs on 100 processors", and where they differ from it, which policies rejected or did not finish jobs.
std::string workload_line(std::span<const Summary> summaries);

}  // namespace rota::report
