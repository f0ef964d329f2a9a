#include "serve/manager_book.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "serve/file_in_use.h"

namespace rota::serve {

JobId ManagerBook::meet(const JobSpec& as_asked, Bars bars, const ManagerJob& named) {
  JobSpec spec = as_asked;
  if (!named.account.empty()) spec.group = account_number(named.account);
  const JobId id = desk_.view().next_job();
  About about;
  about.name = named.name;
  about.user = named.user;
  about.uid = spec.user;
  about.gid = spec.group;
  about.array = named.array;
  about.processors = spec.processors;
  set_text(about.texts, "account", named.account);
  set_text(about.texts, "qos", named.qos);
  set_text(about.texts, "features", named.features);
  set_text(about.texts, "required_nodes", named.required_nodes);
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

void ManagerBook::say(JobId job, const ManagerWait& wait) {
  JobEntry* entry = book_.find(job);
  if (entry == nullptr) return;
  JobEntry::Heard& heard = entry->hear();
  heard.waits = wait.reason;
  heard.starts = wait.expected;
  heard.after = wait.after;
  heard.reservation = wait.reservation;
}

void ManagerBook::reserved(const std::vector<ManagerReservation>& all) {
  if (auto kept = reservations_.keep_theirs(all); !kept) desk_.log().warn(kept.error().message);
}

void ManagerBook::surveyed(Instant /*at*/) {
  const std::vector<JobId> met = std::exchange(met_, {});
  shadow_.surveyed(met);
}

}  // namespace rota::serve
