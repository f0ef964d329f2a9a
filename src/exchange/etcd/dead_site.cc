#include "exchange/etcd/dead_site.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/text.h"

namespace rota::etcd {
namespace {

constexpr std::size_t kAtOnce = 6;  // an offer may have 64 KiB, and a transaction half a megabyte

}  // namespace

Result<std::unique_ptr<DeadSite>> DeadSite::begin(const ClientOptions& options, const Asked& asked, Client::Post post,
                                                  Call call) {
  std::unique_ptr<DeadSite> made(new DeadSite(asked, std::move(call)));
  made->client_ = TRY(Client::open(options, *made, std::move(post)));
  made->client_->watch(asked.prefix, made->fold_.keys().end());
  return made;
}

void DeadSite::end(Result<Done> result) {
  if (call_) std::exchange(call_, nullptr)(std::move(result));
}

void DeadSite::listed(std::int64_t /*revision*/, std::vector<Record> records, bool more) {
  std::ranges::move(records, std::back_inserter(pages_));
  if (more || sent_ > 0) return;
  fold_.state(std::exchange(pages_, {}));
  plan();
}

void DeadSite::plan() {
  const auto site = fold_.number_of(dead_);
  if (!site) return end(fail("no site {} has ever joined.", dead_));
  if (fold_.epoch_of(*site) != 0) return end(fail("site {} is alive: it ends its jobs itself.", dead_));
  const auto planned = wish_ == Wish::remove ? plan_removal(*site) : plan_forfeit(*site);
  if (!planned) return end(std::unexpected(planned.error()));
  commit_next();
}

Result<void> DeadSite::plan_removal(SiteId site) {
  const std::vector<std::int64_t> own = fold_.jobs_of(site);
  std::set<std::int64_t> left(own.begin(), own.end());
  for (const auto& [job, revision] : fold_.settled_jobs(site)) left.insert(job);
  if (!left.empty())
    return fail(
        "{} of the federation are still at site {}, or were submitted there: `rota sites forfeit` gives those of other "
        "homes to other sites; its own end when it is started again, and are cancelled or have run.",
        amount(static_cast<std::int64_t>(left.size()), "job"), dead_);
  if (fold_.card_of(site).empty()) return fail("site {} has been removed before, or never said what it has.", dead_);
  const std::string card = fold_.keys().of_site("card", dead_);
  steps_.push_back({{}, {{.key = card, .removes = true}}, card});
  return {};
}

Result<void> DeadSite::plan_forfeit(SiteId site) {
  for (const auto& [job, revision] : fold_.settled_jobs(site)) {
    const auto offer = fold_.offer_of(job);
    if (offer->home == site) {
      ++done_.kept;
      continue;
    }
    const std::string won = fold_.keys().of_both("won", dead_, job), lot = fold_.keys().of_job("job", job);
    steps_.push_back({{{won, revision}},
                      {{.key = won, .removes = true}, {lot, value_text({site, 0, 0}, SiteId{}, 0, *offer, 0)}},
                      lot});
  }
  return {};
}

void DeadSite::commit_next() {
  if (steps_.empty()) return end(done_);
  sent_ = std::min(steps_.size(), kAtOnce);
  client_->commit(1, {{fold_.keys().of_site("site", dead_), 0}},
                  {steps_.end() - static_cast<std::ptrdiff_t>(sent_), steps_.end()});
}

// Without an answer the same is asked again: a job whose offer stands by then was done the first time.
void DeadSite::committed(std::uint64_t /*request*/, const BatchAnswer& answer) {
  if (answer.outcome == Outcome::unknown) return commit_next();
  if (answer.outcome == Outcome::refused) return end(fail("etcd refuses that: {}", answer.why));
  if (!answer.held)
    return end(
        fail("site {} is alive again, after {} of its jobs went on offer; it gives those up.", dead_, done_.jobs));
  for (const StepAnswer& step : answer.steps) done_.jobs += step.done || step.found ? 1 : 0;
  steps_.resize(steps_.size() - sent_);
  commit_next();
}

}  // namespace rota::etcd
