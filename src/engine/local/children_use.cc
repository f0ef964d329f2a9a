#include "engine/local/children_use.h"

#include <algorithm>

#include "engine/local/cgroups.h"

namespace rota::local {
namespace {

std::int64_t microseconds(const timeval& time) { return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; }

}  // namespace

void ChildrenUse::add(const rusage& waited) {
  user_ += microseconds(waited.ru_utime);
  system_ += microseconds(waited.ru_stime);
  largest_ = std::max(largest_, std::int64_t{waited.ru_maxrss} * 1024);
}

// The system forgets the time of a process whose parent does not care for its end; a control group does not.
void ChildrenUse::write_into(RunRecord& record) const {
  const CgroupUse counted = use_in(record.cgroups);
  const std::int64_t user = user_ / 1000;
  const std::int64_t system = system_ / 1000;
  const bool all = counted.user + counted.system > user + system;
  record.user += all ? counted.user : user;
  record.system += all ? counted.system : system;
  record.memory = std::max(record.memory, counted.memory > 0 ? counted.memory : largest_);
}

}  // namespace rota::local
