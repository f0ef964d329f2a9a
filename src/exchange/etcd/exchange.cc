#include "exchange/etcd/exchange.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

namespace rota {
namespace {

using etcd::Step;
using Kind = Request::Kind;

constexpr Duration kNameAgain{500};  // after a try to take a number, or to read, came to nothing
constexpr std::size_t kMostBytes = std::size_t{512} << 10U;  // in one transaction; etcd takes 1.5 MiB

// Whole seconds, and as many as etcd grants at least.
std::int64_t lease_seconds(Duration ttl) { return std::max<std::int64_t>((ttl.count() + 999) / 1000, 2); }

std::size_t bytes_of(const Step& step) {
  std::size_t bytes = 0;
  for (const etcd::Write& write : step.writes) bytes += write.key.size() + write.value.size();
  return bytes;
}

bool overlap(const Step& step, const std::set<std::string>& written) {
  return std::ranges::any_of(step.writes, [&](const etcd::Write& write) { return written.contains(write.key); });
}

}  // namespace

EtcdExchange::EtcdExchange(Loop& loop, const EtcdExchangeOptions& options)
    : loop_(loop), options_(options), fold_(options.prefix, options.unix_start) {}

Result<std::unique_ptr<EtcdExchange>> EtcdExchange::open(Loop& loop, const EtcdExchangeOptions& options,
                                                         etcd::Client::Post post) {
  std::unique_ptr<EtcdExchange> exchange(new EtcdExchange(loop, options));
  exchange->client_ = TRY(etcd::Client::open(options.client, *exchange, std::move(post)));
  exchange->client_->watch(options.prefix, exchange->fold_.keys().end());
  return exchange;
}

bool EtcdExchange::quiet() const {
  return queue_.empty() && sent_.empty() && joins_.empty() && namings_.empty() && readings_.empty() && revision_ > 0 &&
         revision_ >= answered_;
}

// ---- requests

void EtcdExchange::send(const Request& request) {
  if (request.kind == Kind::join) return join(request);
  if (request.kind == Kind::renew) return renew(request);
  queue_.push_back(request);
  loop_.set(*this, loop_.now());
}

void EtcdExchange::join(const Request& request) {
  if (fold_.name_of(request.site) == nullptr) return early_.push_back(request);
  joins_[++last_id_] = request;
  client_->grant(last_id_, lease_seconds(request.ttl));
}

void EtcdExchange::granted(std::uint64_t id, etcd::Outcome outcome, const std::string& why, std::int64_t lease) {
  const auto asked = joins_.extract(id);
  if (!asked) return;
  const Request& request = asked.mapped();
  const std::string* name = fold_.name_of(request.site);
  if (outcome == etcd::Outcome::refused) say("etcd grants no lease: " + why);
  if (outcome != etcd::Outcome::done || name == nullptr) return;
  const std::string token = etcd::token_text(request.token);
  const std::string epoch = fold_.keys().of_site("epoch", *name);
  leases_[token] = lease;
  Step step{{{epoch, request.epoch}}, {{fold_.keys().of_site("site", *name), token, lease}, {epoch, token}}, epoch};
  sent_[++last_id_] = {request};
  client_->commit(last_id_, {}, {step});
}

// In vain where another process of the site has the lease; and then the site joins again.
void EtcdExchange::renew(const Request& request) {
  if (fold_.epoch_of(request.site) != request.epoch) return;
  const auto lease = leases_.find(etcd::token_text(fold_.joined_by(request.site)));
  if (lease != leases_.end()) client_->keep(lease->second);
}

etcd::Condition EtcdExchange::lives(SiteId site, Epoch epoch) const {
  const std::string* name = fold_.name_of(site);
  return {fold_.keys().of_site("site", name == nullptr ? "" : *name), epoch};
}

std::optional<Step> EtcdExchange::step_of(const Request& request) const {
  switch (request.kind) {
    case Kind::join:
    case Kind::renew:
      return std::nullopt;  // never come here
    case Kind::offer:
      return offer_step(request);
    case Kind::bid:
    case Kind::claim:
    case Kind::settle:
      return sale_step(request);
    case Kind::withdraw: {
      const std::string bid = fold_.keys().of_both("bid", *fold_.name_of(request.site), request.job);
      const Revision seen = fold_.bid_of(request.site, request.job);
      if (seen == 0) return std::nullopt;
      return Step{{{fold_.keys().of_job("job", request.job), 0}, {bid, seen}}, {{.key = bid, .removes = true}}, bid};
    }
    case Kind::put_back:
    case Kind::end:
      return win_step(request);
    case Kind::cancel:
    case Kind::note:
      return home_step(request);
  }
  return std::nullopt;
}

std::optional<Step> EtcdExchange::home_step(const Request& request) const {
  if (request.kind == Kind::note) {
    const std::string report = fold_.keys().of_job("ended", request.job);
    if (!fold_.has_report_on(request.job, request.site)) return std::nullopt;
    Step step{{{report, 0, true}}, {{.key = report, .removes = true}}, report};
    forget_job(step, request.site, request.job);
    return step;
  }
  const std::string* settler = fold_.name_of(fold_.settler_of(request.job));
  const auto offer = fold_.offer_of(request.job);
  if (settler == nullptr || request.own_seen == 0 || !offer || offer->home != request.site) return std::nullopt;
  const std::string key = fold_.keys().of_both("cancel", *fold_.name_of(request.site), request.job);
  return Step{{{fold_.keys().of_both("won", *settler, request.job), request.own_seen}},
              {{key, etcd::token_text(request.token)}},
              key};
}

// What its home keeps there beside the records of its sale.
void EtcdExchange::forget_job(Step& step, SiteId home, std::int64_t job) const {
  step.writes.push_back({.key = fold_.keys().of_both("~payload", *fold_.name_of(home), job), .removes = true});
  if (fold_.cancelled_by(home, job) == Token{}) return;
  step.writes.push_back({.key = fold_.keys().of_both("cancel", *fold_.name_of(home), job), .removes = true});
}

std::optional<Step> EtcdExchange::offer_step(const Request& request) const {
  const etcd::RecordFold::Last last = fold_.last_of(request.site);
  if (last.serial != request.last || request.offers.front()->serial <= last.serial) return std::nullopt;
  const std::string& home = *fold_.name_of(request.site);
  const std::string serial = fold_.keys().of_site("last", home);
  Step step{{{serial, last.revision}}, {}, fold_.keys().of_job("job", request.job)};
  step.writes.push_back({serial, fmt::format("{} {}", etcd::token_text(request.token), request.offers.back()->serial)});
  for (const auto& offer : request.offers) {
    step.writes.push_back({fold_.keys().of_job("job", offer->spec.number),
                           etcd::value_text(request.token, {}, 0, *offer, options_.unix_start)});
    std::string payload = options_.payload ? options_.payload(*offer) : "";
    if (!payload.empty())
      step.writes.push_back({fold_.keys().of_both("~payload", home, offer->spec.number), std::move(payload)});
  }
  return step;
}

// A claim can only be replaced, and bids come on a job that is claimed, where the claim is void: where its site is not
// alive in that epoch.
std::optional<Step> EtcdExchange::sale_step(const Request& request) const {
  const etcd::Keys& keys = fold_.keys();
  const etcd::RecordFold::Claim claim = fold_.claim_on(request.job);
  const std::string job = keys.of_job("job", request.job), on_it = keys.of_job("claim", request.job);
  if (request.job_seen == 0 || claim.revision != request.claim_seen) return std::nullopt;
  const std::string& self = *fold_.name_of(request.site);
  Step step{{{job, request.job_seen}, {on_it, request.claim_seen}}, {}, on_it};
  if (request.kind == Kind::settle) {
    const auto offer = fold_.offer_of(request.job);
    if (claim.revision == 0 || claim.site != request.site || claim.epoch != request.epoch || !offer)
      return std::nullopt;
    step.otherwise = keys.of_both("won", self, request.job);
    for (const std::string& key : {job, on_it, keys.of_both("bid", self, request.job)})
      step.writes.push_back({.key = key, .removes = true});
    step.writes.push_back({step.otherwise, etcd::value_text(request.token, *offer, options_.unix_start)});
    return step;
  }
  if (claim.revision != 0) {
    etcd::Condition is_void = lives(claim.site, claim.epoch);
    is_void.differs = true;
    step.conditions.push_back(std::move(is_void));
  }
  if (request.kind == Kind::claim) {
    if (fold_.name_of(request.winner) == nullptr || request.winner_epoch == 0) return std::nullopt;
    step.conditions.push_back(lives(request.winner, request.winner_epoch));
    step.writes.push_back({on_it, fmt::format("{} {} {}\n{}", etcd::token_text(request.token), request.winner.value,
                                              request.winner_epoch, request.auction)});
    return step;
  }
  step.otherwise = keys.of_both("bid", self, request.job);
  step.conditions.push_back({step.otherwise, request.own_seen});
  const Bid& bid = request.bid;
  step.writes.push_back({step.otherwise, fmt::format("{} {} {} {} {} {} {} {} {}", etcd::token_text(request.token),
                                                     bid.price, bid.start.count(), request.epoch, bid.input.count(),
                                                     bid.parts[0], bid.parts[1], bid.parts[2], bid.fact)});
  return step;
}

std::optional<Step> EtcdExchange::win_step(const Request& request) const {
  const std::string won = fold_.keys().of_both("won", *fold_.name_of(request.site), request.job);
  const auto offer = fold_.offer_of(request.job);
  if (request.own_seen == 0) return std::nullopt;
  Step step{{{won, request.own_seen}}, {{.key = won, .removes = true}}, won};
  if (!offer) return std::nullopt;
  if (request.kind == Kind::end) {
    if (!request.report.empty())
      step.writes.push_back({fold_.keys().of_job("ended", request.job),
                             fmt::format("{} {} {}\n{}", etcd::token_text(request.token), request.site.value,
                                         offer->home.value, request.report)});
    else
      forget_job(step, request.site, request.job);
    return step;
  }
  step.otherwise = fold_.keys().of_job("job", request.job);
  step.writes.push_back(
      {step.otherwise, etcd::value_text(request.token, request.site, request.epoch, *offer, options_.unix_start)});
  return step;
}

// All that was asked in this turn: what one site asks in one epoch goes together, but no two writes of one record do.
void EtcdExchange::ring() {
  name_sites();
  ask_for_payloads();
  std::vector<Request> left = std::exchange(queue_, {});
  while (!left.empty()) {
    const SiteId site = left.front().site;
    const Epoch epoch = left.front().epoch;
    std::vector<Request> now, later;
    std::vector<Step> steps;
    std::set<std::string> written;
    std::size_t bytes = 0;
    for (Request& request : left) {
      if (request.site != site || request.epoch != epoch || steps.size() == etcd::kMostSteps || bytes > kMostBytes) {
        later.push_back(std::move(request));
        continue;
      }
      auto step = fold_.name_of(site) != nullptr && epoch != 0 ? step_of(request) : std::nullopt;
      if (!step) {
        refuse(request, request.kind == Kind::offer ? fold_.offer_token(request.job) : Token{});
      } else if (overlap(*step, written)) {
        later.push_back(std::move(request));
      } else {
        bytes += bytes_of(*step);
        for (const etcd::Write& write : step->writes) written.insert(write.key);
        steps.push_back(std::move(*step));
        now.push_back(std::move(request));
      }
    }
    if (!steps.empty()) commit(site, epoch, std::move(now), steps);
    left = std::move(later);
  }
}

void EtcdExchange::commit(SiteId site, Epoch epoch, std::vector<Request> requests, const std::vector<Step>& steps) {
  for (const Request& request : requests) {
    if (request.kind == Kind::end || request.kind == Kind::withdraw || request.kind == Kind::note)
      removals_[{request.kind, request.site, request.job}] = request.token;
  }
  sent_[++last_id_] = std::move(requests);
  client_->commit(last_id_, {lives(site, epoch)}, steps);
}

void EtcdExchange::committed(std::uint64_t id, const etcd::BatchAnswer& answer) {
  for (Naming& naming : namings_) {
    if (naming.asked != id) continue;
    if (answer.outcome == etcd::Outcome::done && answer.held && answer.steps.front().done)
      return;  // the watch shows it
    naming.asked = 0;
    return loop_.set(*this, loop_.now() + kNameAgain);
  }
  const auto sent = sent_.extract(id);
  if (!sent || answer.outcome == etcd::Outcome::unknown) return;
  if (answer.outcome == etcd::Outcome::refused) return say("etcd refuses what this site asks: " + answer.why);
  const std::vector<Request>& requests = sent.mapped();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!answer.held) {
      refuse(requests[i]);
    } else if (answer.steps[i].done) {
      answered_ = std::max(answered_, answer.revision);
    } else {
      refuse(requests[i], answer.steps[i].found ? etcd::token_of(answer.steps[i].otherwise.value) : Token{});
    }
  }
}

void EtcdExchange::refuse(const Request& request, const Token& record) {
  Change change{.kind = Change::Kind::refused, .revision = revision_, .token = request.token, .site = request.site};
  change.job = request.job;
  change.refused = request.kind;
  change.record = record;
  for (const Listener& l : listeners_) {
    if (l.site == request.site) l.watcher->hear(change);
  }
}

// ---- what happens

void EtcdExchange::watch(SiteId site, Watcher& watcher, Revision /*seen*/) {
  stop(watcher);
  std::erase_if(listeners_, [&](const Listener& l) { return site.valid() && l.site == site; });
  listeners_.push_back({site, &watcher});
  if (revision_ == 0) return watcher.hear({.kind = Change::Kind::resync});  // the rest comes with the first listing
  for (const Change& change : fold_.all_changes(revision_)) watcher.hear(change);
}

void EtcdExchange::stop(Watcher& watcher) {
  std::erase_if(listeners_, [&](const Listener& l) { return l.watcher == &watcher; });
}

void EtcdExchange::listed(std::int64_t revision, std::vector<etcd::Record> records, bool more) {
  std::ranges::move(records, std::back_inserter(pages_));
  if (more) return;
  fold_.state(std::exchange(pages_, {}));
  revision_ = revision;
  removals_.clear();
  tell(fold_.all_changes(revision));
  name_sites();
  ask_for_payloads();
}

void EtcdExchange::changed(std::int64_t revision, const std::vector<etcd::Record>& records) {
  std::vector<Change> changes = fold_.fold(revision, records);
  revision_ = revision;
  for (Change& change : changes) {
    if (change.token == Token{}) change.token = removed_by(change);
    if (change.kind != Change::Kind::joined) continue;
    const std::string own = etcd::token_text(change.token), site = own.substr(0, own.find('.') + 1);
    std::erase_if(leases_, [&](const auto& l) { return l.first != own && l.first.starts_with(site); });
  }
  tell(changes);
  if (!namings_.empty() || !early_.empty()) name_sites();
}

Token EtcdExchange::removed_by(const Change& change) {
  const Kind kind = change.kind == Change::Kind::ended   ? Kind::end
                    : change.kind == Change::Kind::noted ? Kind::note
                                                         : Kind::withdraw;
  const auto removal = removals_.extract({kind, change.site, change.job});
  return removal ? removal.mapped() : Token{};
}

// What a watcher asks for in return waits for its turn.
void EtcdExchange::tell(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    for (const Listener& l : listeners_) l.watcher->hear(change);
  }
}

void EtcdExchange::connection(const std::string& why) {
  if (why != trouble_) say(why.empty() ? "etcd answers again" : why);
  trouble_ = why;
}

// What comes again and again is said once.
void EtcdExchange::say(const std::string& sentence) {
  if (options_.say && sentence != said_) options_.say(sentence);
  said_ = sentence;
}

std::string EtcdExchange::name_of(SiteId site) const {
  const std::string* name = fold_.name_of(site);
  return name != nullptr ? *name : fmt::format("number {}", site.value);
}

// ---- payloads and cards

void EtcdExchange::read_payload(const Offer& offer, std::function<void(std::optional<std::string>)> call) {
  readings_.push_back({offer.home, offer.spec.number, std::move(call)});
  loop_.set(*this, loop_.now());
}

// Once the names of homes are known.
void EtcdExchange::ask_for_payloads() {
  if (revision_ == 0) return;
  for (Reading& reading : readings_) {
    if (reading.asked != 0) continue;
    reading.asked = ++last_id_;
    client_->get(reading.asked, fold_.keys().of_both("~payload", name_of(reading.home), reading.job));
  }
}

void EtcdExchange::got(std::uint64_t id, etcd::Outcome outcome, std::optional<etcd::Record> record) {
  const auto reading = std::ranges::find(readings_, id, &Reading::asked);
  if (reading == readings_.end()) return;
  if (outcome != etcd::Outcome::done) {
    reading->asked = 0;
    return loop_.set(*this, loop_.now() + kNameAgain);
  }
  const auto call = std::move(reading->call);
  readings_.erase(reading);
  call(record ? std::optional(std::move(record->value)) : std::nullopt);
}

void EtcdExchange::put_card(SiteId site, Epoch epoch, std::string_view card) {
  const std::string* name = fold_.name_of(site);
  if (name == nullptr || epoch == 0) return;
  const std::string key = fold_.keys().of_site("card", *name);
  client_->commit(++last_id_, {lives(site, epoch)}, {Step{{}, {{key, std::string(card)}}, key}});
}

// ---- numbers of sites

void EtcdExchange::find_number(const std::string& name, SiteId wanted, std::function<void(SiteId)> call) {
  namings_.push_back({name, wanted, std::move(call)});
  loop_.set(*this, loop_.now());
}

void EtcdExchange::name_sites() {
  if (revision_ == 0) return;
  std::vector<Naming> known;
  for (auto naming = namings_.begin(); naming != namings_.end();) {
    if (fold_.number_of(naming->name)) {
      known.push_back(std::move(*naming));
      naming = namings_.erase(naming);
      continue;
    }
    if (naming->asked == 0) {
      const std::uint32_t number = number_for(naming->wanted);
      const std::string key = fold_.keys().number(number);
      naming->asked = ++last_id_;
      client_->commit(last_id_, {}, {Step{{{key, 0}}, {{key, naming->name}}, key}});
    }
    ++naming;
  }
  for (const Naming& naming : known) naming.call(*fold_.number_of(naming.name));
  for (const Request& request : std::exchange(early_, {})) join(request);
}

std::uint32_t EtcdExchange::number_for(SiteId wanted) const {
  const auto& names = fold_.names();
  const bool is_free = wanted.valid() && (wanted.value >= names.size() || names[wanted.value].empty());
  if (is_free) return wanted.value;
  return static_cast<std::uint32_t>(std::ranges::find(names, std::string()) - names.begin());
}

}  // namespace rota
