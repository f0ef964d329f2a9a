#include "serve/pending_counts.h"

namespace rota::serve {
namespace {

constexpr std::size_t kMostKnown = 20'000;

}  // namespace

const std::map<std::string_view, std::int64_t>& PendingCounts::look() {
  if (counted_ != desk_.view().sequence()) share_.run([&] { count(); });
  return counts_;
}

void PendingCounts::count() {
  const View& view = desk_.view();
  counts_.clear();
  if (book_.size() <= kMostKnown) {
    view.for_each_job([&](JobId id, const Job& job) {
      const bool waits = job.state == JobState::waiting || job.state == JobState::barred;
      if (waits) ++counts_[reasons_.reason_of(id, Telling::word).word];
    });
  }
  counted_ = view.sequence();
}

}  // namespace rota::serve
