#include "serve/pending_counts.h"

#include "serve/service.h"

namespace rota::serve {
namespace {

constexpr std::size_t kMostKnown = 20'000;
constexpr int kShare = 50;  // of the thread's time one part

}  // namespace

const std::map<std::string_view, std::int64_t>& PendingCounts::look(const Service& service) {
  const View& view = service.view();
  const Clock::time_point begin = Clock::now();
  if ((counted_ && sequence_ == view.sequence()) || begin < not_before_) return counts_;
  counts_.clear();
  if (service.book().size() <= kMostKnown) {
    view.for_each_job([&](JobId id, const Job& job) {
      const bool waits = job.state == JobState::waiting || job.state == JobState::barred;
      if (waits) ++counts_[service.reason_of(id, Telling::word).word];
    });
  }
  sequence_ = view.sequence();
  counted_ = true;
  const Clock::time_point end = Clock::now();
  not_before_ = end + (end - begin) * (kShare - 1);
  return counts_;
}

}  // namespace rota::serve
