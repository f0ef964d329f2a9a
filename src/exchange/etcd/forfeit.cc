#include "exchange/etcd/forfeit.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rota::etcd {
namespace {

constexpr std::size_t kAtOnce = 6;  // an offer may have 64 KiB, and a transaction half a megabyte

}  // namespace

Result<std::unique_ptr<Forfeit>> Forfeit::begin(const ClientOptions& options, const std::string& prefix,
                                                const std::string& dead, Client::Post post, Call call) {
  std::unique_ptr<Forfeit> made(new Forfeit(prefix, dead, std::move(call)));
  made->client_ = TRY(Client::open(options, *made, std::move(post)));
  made->client_->watch(prefix, made->fold_.keys().end());
  return made;
}

void Forfeit::end(Result<Done> result) {
  if (call_) std::exchange(call_, nullptr)(std::move(result));
}

void Forfeit::listed(std::int64_t /*revision*/, std::vector<Record> records, bool more) {
  std::ranges::move(records, std::back_inserter(pages_));
  if (more || sent_ > 0) return;
  fold_.state(std::exchange(pages_, {}));
  plan();
}

void Forfeit::plan() {
  const auto site = fold_.number_of(dead_);
  if (!site) return end(fail("no site {} has ever joined.", dead_));
  if (fold_.epoch_of(*site) != 0) return end(fail("site {} is alive: it ends its jobs itself.", dead_));
  for (const auto& [job, revision] : fold_.settled_jobs(*site)) {
    const auto offer = fold_.offer_of(job);
    if (offer->home == *site) {
      ++done_.kept;
      continue;
    }
    const std::string won = fold_.keys().of_both("won", dead_, job), lot = fold_.keys().of_job("job", job);
    steps_.push_back({{{won, revision}},
                      {{.key = won, .removes = true}, {lot, value_text({*site, 0, 0}, SiteId{}, 0, *offer, 0)}},
                      lot});
  }
  commit_next();
}

void Forfeit::commit_next() {
  if (steps_.empty()) return end(done_);
  sent_ = std::min(steps_.size(), kAtOnce);
  client_->commit(1, {{fold_.keys().of_site("site", dead_), 0}},
                  {steps_.end() - static_cast<std::ptrdiff_t>(sent_), steps_.end()});
}

// Without an answer the same is asked again: a job whose offer stands by then was done the first time.
void Forfeit::committed(std::uint64_t /*request*/, const BatchAnswer& answer) {
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
