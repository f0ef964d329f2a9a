#include "serve/pending_counts.h"

#include "serve/service.h"

namespace rota::serve {
namespace {

constexpr std::size_t kMostKnown = 20'000;

}  // namespace

const std::map<std::string_view, std::int64_t>& PendingCounts::look(const Service& service) {
  if (counted_ != service.view().sequence()) share_.run([&] { count(service); });
  return counts_;
}

void PendingCounts::count(const Service& service) {
  const View& view = service.view();
  counts_.clear();
  if (service.book().size() <= kMostKnown) {
    view.for_each_job([&](JobId id, const Job& job) {
      const bool waits = job.state == JobState::waiting || job.state == JobState::barred;
      if (waits) ++counts_[service.reason_of(id, Telling::word).word];
    });
  }
  counted_ = view.sequence();
}

}  // namespace rota::serve
