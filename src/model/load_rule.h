// How power=load-factor treats the nodes of a partition, as its cluster file says (Cao et al. 2011: each queue has its
// own thresholds and its own normalising function).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/formula.h"

namespace rota {

// What a normalising function is of: the upper estimate of the work in the queue in node-seconds, the nodes that are
// on, and the longest run time in seconds.
inline constexpr std::array<std::string_view, 3> kLoadNames{"work", "nodes", "longest"};

// Those with a name. Each is 1 where the nodes have just as much to do as the longest run time holds.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kLoadFunctions{
    {{"share", "work / (nodes * longest)"},
     {"root", "sqrt(work / (nodes * longest))"},
     {"log", "log(1 + work / (nodes * longest)) / log(2)"}}};

struct LoadRule {
  std::optional<double> close, open, close_to, open_to;  // in place of the policy's knobs
  std::uint32_t least_on = 0;                            // nodes that the rule leaves on, at least
  std::uint32_t most_on = UINT32_MAX;                    // and that it has on, at most
  std::optional<Formula> load;                           // in place of "share"
};

}  // namespace rota
