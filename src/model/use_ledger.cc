#include "model/use_ledger.h"

namespace rota {

const std::vector<double>& UseLedger::share_factors() const {
  if (factors_.empty() || factors_of_ != use_.changes())
    factors_ = rules_.classic ? rules_.shares->classic_factors(use_, rules_.dampening) : rules_.shares->factors(use_);
  factors_of_ = use_.changes();
  return factors_;
}

Instant UseLedger::period_before(Instant at) const {
  const Duration since = (at - kEpoch - rules_.phase) % rules_.period;
  return at - (since + rules_.period) % rules_.period;
}

void UseLedger::reckon(Instant until, const std::map<std::uint32_t, RecentUse::Work>& done) {
  use_.take_over(owed_);
  for (const auto& [user, work] : done) use_.add(user, work, until);
  due_ = until + rules_.period;
}

}  // namespace rota
