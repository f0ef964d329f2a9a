// What to choose: the report's first sentences, and those below the terminal's table.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/metrics.h"

namespace rota::report {

// The policies whose mean wait is within 2 % of the shortest are taken to wait alike; of these the one is chosen that
// has the least product of mean, 95 % and longest wait, then the fewest late starts, kills, kilowatt-hours and so on.
// But a policy whose longest wait is over twice that of the policy with the least product of all starves jobs, and
// gives way to it. What really happened cannot be chosen, nor a policy that ran fewer jobs than another. Depends on the
// figures alone, never on the order of the policies.
//
// Over copies (Summary::copies) their means are weighed, and a policy that differs from the best by noise comes out
// alike with it: paired, copy by copy, in what decides first.
struct Choice {
  // Policies that are better than what was chosen at something else, by at least 5 % (energy and cost: 1 %) and by more
  // than noise: others; or, where several are chosen, those of them that are better than the rest of them.
  struct Instead {
    std::vector<std::size_t> policies;  // several where they come out alike; the best first
    std::vector<std::size_t> aspects;   // places in `aspects()`
  };
  std::optional<std::size_t> shortest = {};  // has the shortest mean wait, and gave way
  std::vector<std::size_t> chosen;  // several where all their figures are the same, or but for noise; empty: no job
                                    // ran, or the rehearsal cannot be trusted (report/trust.h)
  std::vector<Instead> instead;     // by the first of their aspects
};
Choice choose(std::span<const Summary> summaries);

// What is weighed beside the mean wait.
struct Aspect {
  const char* name;                 // "longest waits"
  const char* verb;                 // "matter"
  const char* what;                 // "the longest wait is"
  double least;                     // share by which another must be better to be told
  bool higher;                      // is better
  double (*value)(const Summary&);  // NaN: not known; infinite: there are no promises to keep
  std::string (*text)(double);

  double burden(const Summary& summary) const { return higher ? -value(summary) : value(summary); }
};
std::span<const Aspect> aspects();

// Sentences for people, of summaries of one workload; at least one summary.
std::vector<std::string> verdict_sentences(std::span<const Summary> summaries);
std::string verdict(std::span<const Summary> summaries);  // joined

// For each policy what its nodes drew less than those of the first one with a meter.
void measure_against_first(std::span<Summary*> summaries);

}  // namespace rota::report
