// What the report's charts draw: outcomes boiled down to some hundred numbers each, however many jobs there were.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/outcome.h"

namespace rota::report {

struct Span {
  Instant from = kEpoch;
  Instant to = kEpoch;  // not before from
};

// From the first submission to the last end of jobs that were not rejected; empty if there are none.
Span span_of(const Outcome& outcome);

// Means over equal slices of the span, of what the figures are made of (Summary): a job is busy for its run time, which
// is that of its last dispatch and what was kept of earlier ones, and waits for the rest of the time up to its last
// start. Where it is not known when it ran before, or stood still, that is dealt out evenly over the time in question.
// What was lost of runs that were killed is seen as waiting. Jobs of a log of which the start is not told count
// nowhere.
struct Load {
  std::vector<double> busy;     // processors
  std::vector<double> waiting;  // jobs
};
Load load_over(const Outcome& outcome, Span span, std::size_t slices);
// Likewise of what jobs hold in their last dispatch; empty where none asks for any. On how many nodes is known where
// starts were kept.
std::vector<double> accelerators_over(const Outcome& outcome, Span span, std::size_t slices);
std::vector<double> memory_over(const Outcome& outcome, Span span, std::size_t slices);  // bytes

// The states of several sites together; nothing where they were not kept over the same time.
NodeStates sum_of(const std::vector<NodeStates>& sites);

// Waits in seconds at which the distribution is told: 0, then ten a decade from 1 s to at least `longest`.
std::vector<double> wait_marks(Duration longest);

// The share of ended jobs that waited no longer than each mark; all 0 if none ended.
std::vector<double> wait_shares(const Outcome& outcome, const std::vector<double>& marks);

struct SizeClass {
  std::uint32_t least = 1;  // processors
  std::uint32_t most = 1;
  std::string label() const;  // "5-16"
};

// Classes that grow by a factor of 2, or 4 where that would be more than ten, up to the cluster's size.
std::vector<SizeClass> size_classes(std::int64_t processors);

struct ClassFigures {
  std::int64_t jobs = 0;        // that ended
  double bounded_slowdown = 0;  // means; 0 where there are no jobs
  double wait = 0;              // seconds
};
std::vector<ClassFigures> by_size(const Outcome& outcome, const std::vector<SizeClass>& classes);

}  // namespace rota::report
