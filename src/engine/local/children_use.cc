#include "engine/local/children_use.h"

#include <sys/resource.h>

#include <algorithm>

#include "engine/local/cgroups.h"

namespace rota::local {
namespace {

std::int64_t milliseconds(const timeval& time) { return std::int64_t{time.tv_sec} * 1000 + time.tv_usec / 1000; }

}  // namespace

// The system forgets the time of a process whose parent does not care for its end; a control group does not.
void add_children_use(RunRecord& record) {
  rusage waited{};
  ::getrusage(RUSAGE_CHILDREN, &waited);
  const CgroupUse counted = use_in(record.cgroups);
  const std::int64_t user = milliseconds(waited.ru_utime);
  const std::int64_t system = milliseconds(waited.ru_stime);
  const bool all = counted.user + counted.system > user + system;
  record.user += all ? counted.user : user;
  record.system += all ? counted.system : system;
  const std::int64_t largest = std::int64_t{waited.ru_maxrss} * 1024;
  record.memory = std::max(record.memory, counted.memory > 0 ? counted.memory : largest);
}

}  // namespace rota::local
