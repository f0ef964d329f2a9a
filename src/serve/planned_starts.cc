#include "serve/planned_starts.h"

#include "serve/service.h"

namespace rota::serve {
namespace {

constexpr const char* kPlanner = "easy+depth=200";  // so many are promised a start
constexpr std::size_t kMostKnown = 20'000;

}  // namespace

void PlannedStarts::look(const Service& service) {
  current_ = planned_ == service.view().sequence() || share_.run([&] { plan(service); });
}

void PlannedStarts::plan(const Service& service) {
  starts_.clear();
  if (service.book().size() <= kMostKnown) {
    for (const auto& [job, start] : service.starts_by(kPlanner)) starts_.emplace(job, start);
  }
  planned_ = service.view().sequence();
}

}  // namespace rota::serve
