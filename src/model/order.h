// The order in which waiting jobs are considered. Higher priority always goes first; then the order's score, low scores
// first; then order of arrival. A score may depend on the wait so far, and then the queue is sorted anew every cycle.
// Thread-safe: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "model/job.h"

namespace rota {

enum class Order : std::uint8_t { fcfs, sjf, smallest, largest, wfp3, unicef, f1, fair, hrrn };

inline constexpr std::array<std::pair<Order, std::string_view>, 9> kOrderNames{{{Order::fcfs, "fcfs"},
                                                                                {Order::sjf, "sjf"},
                                                                                {Order::smallest, "smallest"},
                                                                                {Order::largest, "largest"},
                                                                                {Order::wfp3, "wfp3"},
                                                                                {Order::unicef, "unicef"},
                                                                                {Order::f1, "f1"},
                                                                                {Order::fair, "fair"},
                                                                                {Order::hrrn, "hrrn"}}};

// True if the score of a waiting job changes as time goes by.
constexpr bool varies_with_time(Order order) {
  return order == Order::wfp3 || order == Order::unicef || order == Order::hrrn;
}

// True if the score of a job depends on how long it is expected to run.
constexpr bool asks_run_time(Order order) {
  return order == Order::sjf || order == Order::wfp3 || order == Order::unicef || order == Order::f1 ||
         order == Order::hrrn;
}

inline constexpr std::int64_t kNoRatioCap = INT64_MAX;

// fcfs: constant. sjf: expected run time. smallest, largest: processors asked.
// wfp3: -(wait / expected)^3 * processors (Tang et al., CLUSTER 2009). unicef: -wait / (log2(processors) * expected)
// (ibid.). f1: log10(expected) * processors + 870 * log10(submit - first) (Carastan-Santos and de Camargo, SC 2017),
// times in seconds; `first` is the first submission of all. fair: nothing here; the jobs of a user have one score, by
// what that user has used lately (WaitingJobs::rescore). hrrn: -(wait + expected) / expected (Brinch Hansen, SOSP
// 1971), in millionths, cut; what is above `ratio_cap`, a whole number, counts as that.
std::int64_t score(Order order, const Job& job, Instant now, Instant first, std::int64_t ratio_cap = kNoRatioCap);

}  // namespace rota
