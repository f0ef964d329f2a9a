// Which policies can decide here.
#include <fmt/core.h>

#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "control/suitable.h"
#include "serve/service.h"

namespace rota::serve {

// A policy that needs no more than a service knows.
Result<Chain> Service::chain_of(const std::string& policy) {
  auto chain = Chain::parse(policy);
  if (!chain || !chain->knobs().power.knows_the_log()) return chain;
  return fail(
      "policy {} cannot run here: power-history=log takes all jobs of a log as known beforehand, and a service "
      "does not know which jobs it will have. Leave it out: power=load-factor then learns from those that end.",
      policy);
}

// Fails for a policy that starts jobs over, where a job is known that must not be.
Result<void> Service::starts_nobody_over(const Chain& chain) const {
  if (chain.knobs().preempt != Preemption::requeue) return {};
  constexpr std::int64_t kNamed = 5;
  std::string names;
  std::int64_t count = 0;
  book_.for_each([&](JobId id, const JobEntry& entry) {
    if (!entry.about->never || view().job(id).gone()) return true;
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

// A policy that could decide here.
Result<Chain> Service::chain_that_suits(const std::string& text) const {
  auto chain = chain_of(text);
  if (!chain) return chain;
  TRY(engine_suits(*chain, engine_->capabilities()));
  TRY(starts_nobody_over(*chain));
  if (view().reservations().empty()) return chain;
  TRY(chain->keeps_reservations());
  return chain;
}

// A controller of its own under this policy and the present file, from the facts of a snapshot. Where it cannot be, the
// one before goes on.
Result<void> Service::decide_anew(const std::string& policy, const std::vector<Fact>& facts) {
  auto old_controller = std::move(controller_);
  auto old_chain = std::move(chain_);
  auto taken = start_deciding(policy);
  for (const Fact& fact : facts) {
    if (taken) taken = controller_->replay(fact);
  }
  if (!taken) {
    controller_ = std::move(old_controller);
    chain_ = std::move(old_chain);
    return taken;
  }
  loop_->forget(*old_controller);
  refusals_before_ += old_controller->refusals();
  observe_facts();
  return {};
}

Result<void> Service::set_policy(const std::string& text) {
  TRY(chain_that_suits(text));
  const std::string before = policy();
  TRY(decide_anew(text, controller_->snapshot()));
  if (text != before) controller_->withdraw_promises();
  if (auto compacted = compact(); !compacted) {
    fail_for_good(compacted);
    return compacted;
  }
  controller_->leave_plain_mode();  // an operator has looked
  auto resumed = controller_->resume();
  after_turn(resumed);
  return resumed;
}

Result<QueueToRehearse> Service::queue_to_rehearse(const std::string& text) const {
  constexpr std::size_t kMostRehearsed = 20'000;
  const auto chain = TRY(chain_that_suits(text));
  if (book_.size() > kMostRehearsed)
    return fail(
        "there are more than {} jobs, too many to rehearse them here; `rota simulate {} --policy` rehearses what this "
        "service has run.",
        grouped(kMostRehearsed), shown_path(options_.state_folder));
  return QueueToRehearse{now(), controller_->snapshot(), machine_, chain_->text(), chain.text()};
}

}  // namespace rota::serve
