#include "control/load_log.h"

namespace rota {

void LoadLog::fact_recorded(const View&, const FactRef& fact) {
  const auto* reviewed = std::get_if<const PowerReviewed*>(&fact.what);
  if (reviewed == nullptr || fact.at < from_ || (*reviewed)->loads.empty()) return;
  looks_.push_back({fact.at, (*reviewed)->loads});
}

}  // namespace rota
