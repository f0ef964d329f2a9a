#include "serve/planned_starts.h"

#include "serve/service.h"

namespace rota::serve {
namespace {

constexpr const char* kPlanner = "easy+depth=200";  // so many are promised a start
constexpr std::size_t kMostKnown = 20'000;
constexpr int kShare = 20;  // of the thread's time one part

}  // namespace

void PlannedStarts::look(const Service& service) {
  const std::uint64_t sequence = service.view().sequence();
  current_ = planned_ && sequence_ == sequence;
  const Clock::time_point begin = Clock::now();
  if (current_ || begin < not_before_) return;
  starts_.clear();
  if (service.book().size() <= kMostKnown) {
    for (const auto& [job, start] : service.starts_by(kPlanner)) {
      if (start - service.view().now() < kTooFar) starts_.emplace(job, start);
    }
  }
  sequence_ = sequence;
  planned_ = current_ = true;
  const Clock::time_point end = Clock::now();
  not_before_ = end + (end - begin) * (kShare - 1);
}

}  // namespace rota::serve
