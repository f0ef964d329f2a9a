// What the processes of a job have used, as it is told when they are waited for.
#pragma once

#include <sys/resource.h>

#include <cstdint>

#include "engine/local/record.h"

namespace rota::local {

class ChildrenUse {
 public:
  // Adds the use of a child that was waited for, with that of the children that it had waited for itself.
  void add(const rusage& waited);
  // To what earlier dispatches have used; a control group may know more.
  void write_into(RunRecord& record) const;

 private:
  std::int64_t user_ = 0;     // microseconds
  std::int64_t system_ = 0;   // the same
  std::int64_t largest_ = 0;  // bytes
};

}  // namespace rota::local
