#include "engine/local/quarters.h"

#include <algorithm>

#include "engine/local/cgroups.h"

namespace rota::local {

bool Quarters::lives_in(const std::string& cgroup) const {
  return std::ranges::find(cgroups_, cgroup) != cgroups_.end();
}

void Quarters::move_into(const std::string& cgroup) {
  if (only_fences(cgroup) && join_cgroup(cgroup)) cgroups_.push_back(cgroup);
}

void Quarters::move_out() {
  for (const std::string& cgroup : cgroups_) {
    const std::string base = cgroup.substr(0, cgroup.rfind('/'));
    join_cgroup(base.substr(0, base.rfind('/')));  // where the service lives
  }
  remove_cgroups(cgroups_);
  cgroups_.clear();
}

}  // namespace rota::local
