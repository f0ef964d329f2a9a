#include "serve/planned_starts.h"

#include <algorithm>

#include "serve/service.h"

namespace rota::serve {
namespace {

constexpr const char* kPlanner = "easy+depth=200";  // so many are promised a start
constexpr std::size_t kMostKnown = 20'000;

}  // namespace

void PlannedStarts::look(const Service& service) {
  const bool kept = planned_ == service.view().sequence() && !has_passed(first_, service.now());
  current_ = kept || share_.run([&] { plan(service); });
}

void PlannedStarts::plan(const Service& service) {
  starts_.clear();
  first_ = kNever;
  if (service.book().size() <= kMostKnown) {
    for (const auto& [job, start] : service.starts_by(kPlanner)) {
      starts_.emplace(job, start);
      first_ = std::min(first_, start);
    }
  }
  planned_ = service.view().sequence();
}

}  // namespace rota::serve
