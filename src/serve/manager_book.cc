#include "serve/manager_book.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace rota::serve {

JobId ManagerBook::meet(const JobSpec& spec, Bars bars, const ManagerJob& named) {
  const JobId id = desk_.view().next_job();
  About about;
  about.name = named.name;
  about.user = named.user;
  about.uid = spec.user;
  about.gid = spec.group;
  about.array = named.array;
  about.processors = spec.processors;
  desk_.store().put_payload(id, {about_text(about, named.index), {}, {}, spec.user});
  book_.put(id, JobEntry{std::make_shared<About>(std::move(about)), spec.number, named.index});
  if (desk_.submit(spec, bars).valid()) {
    met_.push_back(id);
    return id;
  }
  book_.take_back(id);
  desk_.store().drop_payload(id);
  return {};
}

bool ManagerBook::has_left(std::int64_t number) const {
  const auto row = jobs_.history_of_number(number);
  return row && row->has_value();
}

void ManagerBook::say(JobId job, std::string_view reason, Instant expected) {
  JobEntry* entry = book_.find(job);
  if (entry == nullptr) return;
  entry->hear().waits = reason;
  entry->hear().starts = expected;
}

void ManagerBook::surveyed(Instant /*at*/) {
  const std::vector<JobId> met = std::exchange(met_, {});
  shadow_.surveyed(met);
}

}  // namespace rota::serve
