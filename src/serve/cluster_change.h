// Another cluster file for a state that was made under the one before: what of it can be taken. Facts name nodes,
// partitions and licences by their places in the file, so that nothing may stand in another's place; and what jobs
// hold, or held when it was written down, has to be there.
#pragma once

#include <string>

#include "model/machine.h"

namespace rota::serve {

struct ClusterChange {
  std::string refused;  // half a sentence, with what to do instead; empty: it can be taken
  std::string taken;    // what is new, as half a sentence; empty: nothing that matters to the state
};

inline constexpr const char* kOtherCluster = " describes another cluster than before: ";
// Behind what contradicts the state under another file: a limit has become tighter than what some job was taken with.
inline constexpr const char* kTooTight =
    " The cluster is described otherwise than before: give back what that job needs, let it end, and change the file "
    "then. Nothing was changed.";

ClusterChange cluster_change(const Machine& before, const Machine& now);

}  // namespace rota::serve
