#include "serve/namesakes.h"

#include "serve/after_text.h"

namespace rota::serve {

Namesakes::Namesakes(const JobBook& book, const View& view, std::uint32_t uid, const std::set<std::string>& names) {
  if (names.empty()) return;
  for (const std::string& name : names) latest_[name];
  book.for_each([&](JobId job, const JobEntry& entry) {
    const About& about = *entry.about;
    if (about.uid == uid && !view.job(job).gone()) add(about.name, job, is_singleton(about.after));
    return true;
  });
}

std::vector<Dependency> Namesakes::before(const std::string& name) const {
  std::vector<Dependency> after;
  for (const JobId job : latest_.at(name)) after.push_back({job, Dependency::When::in_turn});
  return after;
}

void Namesakes::add(const std::string& name, JobId job, bool singleton) {
  const auto found = latest_.find(name);
  if (found == latest_.end()) return;
  if (singleton) found->second.clear();
  found->second.push_back(job);
}

}  // namespace rota::serve
