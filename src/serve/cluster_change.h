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
ClusterChange cluster_change(const Machine& before, const Machine& now);

}  // namespace rota::serve
