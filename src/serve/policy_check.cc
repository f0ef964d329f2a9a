#include "serve/policy_check.h"

#include <fmt/core.h>

#include "base/text.h"
#include "control/suitable.h"

namespace rota::serve {

Result<Chain> chain_of(const std::string& policy) {
  auto chain = Chain::parse(policy);
  if (!chain) return chain;
  const ChainKnobs& knobs = chain->knobs();
  if (knobs.power.knows_the_log())
    return fail(
        "policy {} cannot run here: power-history=log takes all jobs of a log as known beforehand, and a service "
        "does not know which jobs it will have. Leave it out: power=load-factor then learns from those that end.",
        policy);
  if (knobs.auction.siting != Siting::none && !knobs.auction.auctions())
    return fail(
        "policy {} cannot run here: it is for rehearsals of several sites. Services sell their jobs by "
        "auction=english or auction=announced.",
        policy);
  if (knobs.auction.early)
    return fail(
        "policy {} cannot run here: auction-early=yes is for rehearsals. A service queues a job that it has won once "
        "its input is there. Leave it out.",
        policy);
  return chain;
}

Result<void> starts_no_job_over(const Chain& chain, const JobBook& book, const View& view) {
  if (chain.knobs().preempt != Preemption::requeue) return {};
  constexpr std::int64_t kNamed = 5;
  std::string names;
  std::int64_t count = 0;
  book.for_each([&](JobId id, const JobEntry& entry) {
    if (!entry.about->never || view.job(id).gone()) return true;
    if (++count <= kNamed) names += (count > 1 ? ", " : "") + JobBook::shown(entry);
    return true;
  });
  if (count == 0) return {};
  if (count > kNamed) names += fmt::format(" and {} more", grouped(count - kNamed));
  return fail(
      "policy {} starts over any job that is outranked, and there {} never to (`--no-requeue`, `requeue`: false): {}. "
      "Let {} end, or take a policy with preempt=suspend. Nothing was changed.",
      chain.text(), count == 1 ? "is one that is" : "are some that are", names, count == 1 ? "it" : "them");
}

Result<Chain> chain_that_suits(const std::string& policy, const Desk& desk, const JobBook& book,
                               const Capabilities& can) {
  auto chain = chain_of(policy);
  if (!chain) return chain;
  TRY(engine_suits(*chain, can));
  TRY(starts_no_job_over(*chain, book, desk.view()));
  if (desk.view().reservations().empty()) return chain;
  TRY(chain->keeps_reservations());
  return chain;
}

}  // namespace rota::serve
