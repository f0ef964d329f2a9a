#include "serve/planned_starts.h"

#include <algorithm>

namespace rota::serve {
namespace {

constexpr const char* kPlanner = "easy+depth=200";  // so many are promised a start
constexpr std::size_t kMostKnown = 20'000;

}  // namespace

void PlannedStarts::look() {
  const bool kept = planned_ == desk_.view().sequence() && !has_passed(first_, desk_.now());
  current_ = kept || share_.run([&] { plan(); });
}

void PlannedStarts::plan() {
  starts_.clear();
  first_ = kNever;
  if (book_.size() <= kMostKnown) {
    for (const auto& [job, start] : explainer_.starts_by(kPlanner)) {
      starts_.emplace(job, start);
      first_ = std::min(first_, start);
    }
  }
  planned_ = desk_.view().sequence();
}

}  // namespace rota::serve
