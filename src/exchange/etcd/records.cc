#include "exchange/etcd/records.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace rota::etcd {
namespace {

constexpr std::uint32_t kMostSites = 10'000;   // a number beyond that is no site's
constexpr std::size_t kMostValue = 256 << 10;  // bytes: no site writes longer ones that all sites read

// The numbers of a value's line, one after the other. A value that lacks one, or has something else, is not good.
class Words {
 public:
  explicit Words(std::string_view line) : words_(split(line, ' ')) {}
  std::int64_t next() {
    const auto number = next_ < words_.size() ? parse_integer(words_[next_++]) : fail("it is not there.");
    good_ = good_ && number;
    return number.value_or(0);
  }
  SiteId next_site() {
    const std::int64_t number = next();
    if (number >= 0 && number < kMostSites) return SiteId{static_cast<std::uint32_t>(number)};
    good_ = good_ && number == -1;
    return {};
  }
  Token next_token() {
    const auto parts = next_ < words_.size() ? split(words_[next_++], '.') : std::vector<std::string_view>{};
    if (parts.size() != 3) {
      good_ = false;
      return {};
    }
    const auto site = parse_integer(parts[0]), life = parse_integer(parts[1]), request = parse_integer(parts[2]);
    good_ = good_ && site && life && request && *site >= 0 && *site < kMostSites && *life >= 0 && *request >= 0;
    if (!good_) return {};
    return {SiteId{static_cast<std::uint32_t>(*site)}, static_cast<std::uint32_t>(*life),
            static_cast<std::uint64_t>(*request)};
  }
  bool good() const { return good_; }

 private:
  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
  bool good_ = true;
};

std::string_view line_of(std::string_view value) { return value.substr(0, value.find('\n')); }

std::string site_text(SiteId site) { return site.valid() ? std::to_string(site.value) : "-1"; }

std::string offer_text(const Offer& offer, std::int64_t unix_start) {
  return fmt::format("{} {} {} {}\n{}", site_text(offer.home), site_text(offer.data),
                     offer.submitted.time_since_epoch().count() + unix_start * 1000, offer.serial, offer.request);
}

std::shared_ptr<const Offer> offer_in(std::int64_t job, Words& words, std::string_view value, std::int64_t unix_start) {
  Offer offer;
  offer.spec.number = job;
  offer.home = words.next_site();
  offer.data = words.next_site();
  offer.submitted = Instant{Duration{words.next() - unix_start * 1000}};
  offer.serial = words.next();
  if (!words.good() || !offer.home.valid() || offer.serial <= 0) return nullptr;
  if (const std::size_t end = value.find('\n'); end != std::string_view::npos) offer.request = value.substr(end + 1);
  return std::make_shared<const Offer>(std::move(offer));
}

}  // namespace

std::string Keys::number(std::uint32_t site) const { return fmt::format("{}number/{:06}", prefix_, site); }
std::string Keys::of_site(const char* kind, const std::string& name) const {
  return fmt::format("{}{}/{}", prefix_, kind, name);
}
std::string Keys::of_job(const char* kind, std::int64_t job) const {
  return fmt::format("{}{}/{}", prefix_, kind, job);
}
std::string Keys::of_both(const char* kind, const std::string& name, std::int64_t job) const {
  return fmt::format("{}{}/{}/{}", prefix_, kind, name, job);
}

std::string token_text(const Token& token) {
  return fmt::format("{}.{}.{}", site_text(token.site), token.life, token.request);
}

Token token_of(const std::string& value) { return Words(line_of(value)).next_token(); }

std::string value_text(const Token& token, const Offer& offer, std::int64_t unix_start) {
  return token_text(token) + " " + offer_text(offer, unix_start);
}

std::string value_text(const Token& token, SiteId holder, Epoch epoch, const Offer& offer, std::int64_t unix_start) {
  return fmt::format("{} {} {} {}", token_text(token), site_text(holder), epoch, offer_text(offer, unix_start));
}

RecordFold::Key RecordFold::key_of(const std::string& text) const {
  if (!text.starts_with(keys_.prefix())) return {};
  const auto parts = split(std::string_view(text).substr(keys_.prefix().size()), '/');
  if (parts.size() < 2 || parts.size() > 3) return {};
  Key key{std::string(parts[0]), {}};
  const bool of_job = parts[0] == "job" || parts[0] == "claim" || parts[0] == "ended";
  if (!of_job) key.name = parts[1];
  if (const auto site = number_of(key.name)) key.site = *site;
  if (of_job || parts.size() == 3) key.job = parse_integer(parts.back()).value_or(-1);
  return key;
}

std::optional<SiteId> RecordFold::number_of(const std::string& name) const {
  const auto found = std::ranges::find(names_, name);
  if (name.empty() || found == names_.end()) return std::nullopt;
  return SiteId{static_cast<std::uint32_t>(found - names_.begin())};
}

const std::string* RecordFold::name_of(SiteId site) const {
  const bool known = site.valid() && site.value < names_.size() && !names_[site.value].empty();
  return known ? &names_[site.value] : nullptr;
}

Epoch RecordFold::epoch_of(SiteId site) const {
  const auto found = sites_.find(site);
  return found == sites_.end() ? 0 : found->second.epoch;
}

Token RecordFold::joined_by(SiteId site) const {
  const auto found = sites_.find(site);
  return found == sites_.end() ? Token{} : found->second.token;
}

Revision RecordFold::bid_of(SiteId site, std::int64_t job) const {
  const auto found = bids_.find({job, site});
  return found == bids_.end() ? 0 : found->second.revision;
}

Token RecordFold::offer_token(std::int64_t job) const {
  const auto lot = lots_.find(job);
  return lot == lots_.end() ? Token{} : lot->second.token;
}

RecordFold::Claim RecordFold::claim_on(std::int64_t job) const {
  const auto found = claims_.find(job);
  return found == claims_.end() ? Claim{} : found->second;
}

RecordFold::Last RecordFold::last_of(SiteId site) const {
  const auto found = sites_.find(site);
  return found == sites_.end() ? Last{} : found->second.last;
}

const std::string& RecordFold::card_of(SiteId site) const {
  static const std::string none;
  const auto found = sites_.find(site);
  return found == sites_.end() ? none : found->second.card;
}

std::int64_t RecordFold::offered_by(SiteId home) const {
  return std::ranges::count_if(lots_, [&](const auto& lot) { return lot.second.offer->home == home; });
}

std::int64_t RecordFold::settled_by(SiteId site) const {
  return std::ranges::count_if(wins_, [&](const auto& win) { return win.second.site == site; });
}

bool RecordFold::has_report_on(std::int64_t job, SiteId home) const {
  const auto report = reports_.find(job);
  return report != reports_.end() && report->second.home == home;
}

std::shared_ptr<const Offer> RecordFold::offer_of(std::int64_t job) const {
  if (const auto lot = lots_.find(job); lot != lots_.end()) return lot->second.offer;
  const auto win = wins_.lower_bound({job, SiteId{0}});
  return win == wins_.end() || win->first.first != job ? nullptr : win->second.offer;
}

SiteId RecordFold::settler_of(std::int64_t job) const {
  const auto win = wins_.lower_bound({job, SiteId{0}});
  return win == wins_.end() || win->first.first != job ? SiteId{} : win->second.site;
}

std::vector<std::int64_t> RecordFold::jobs_of(SiteId home) const {
  std::vector<std::int64_t> jobs;
  for (const auto& [job, lot] : lots_) {
    if (lot.offer->home == home) jobs.push_back(job);
  }
  for (const auto& [key, win] : wins_) {
    if (win.offer->home == home) jobs.push_back(key.first);
  }
  return jobs;
}

std::map<std::int64_t, Revision> RecordFold::settled_jobs(SiteId site) const {
  std::map<std::int64_t, Revision> jobs;
  for (const auto& [key, win] : wins_) {
    if (win.site == site) jobs[key.first] = win.revision;
  }
  return jobs;
}

Token RecordFold::cancelled_by(SiteId home, std::int64_t job) const {
  const auto found = cancels_.find({job, home});
  return found == cancels_.end() ? Token{} : found->second;
}

void RecordFold::state(const std::vector<Record>& records) {
  names_.clear();
  sites_.clear();
  lots_.clear();
  claims_.clear();
  bids_.clear();
  wins_.clear();
  reports_.clear();
  cancels_.clear();
  const auto names = [&](const Record& record) { return key_of(record.key).kind == "number"; };
  for (const Record& record : records) {
    if (names(record)) static_cast<void>(read(record));
  }
  for (const Record& record : records) {
    if (!names(record)) static_cast<void>(read(record));
  }
}

// That a bid goes is part of a settlement, and that a win goes of a job's being put back or forfeited, or of an end
// with a report.
std::vector<Change> RecordFold::fold(Revision revision, const std::vector<Record>& records) {
  std::set<std::pair<std::int64_t, SiteId>> settled;
  std::set<std::int64_t> offered, reported;
  std::map<std::int64_t, SiteId> left;  // by sites that had settled them
  for (const Record& record : records) {
    const Key key = key_of(record.key);
    if (key.kind == "won" && record.removed && key.site.valid()) left[key.job] = key.site;
    if (record.removed) continue;
    if (key.kind == "won") settled.emplace(key.job, key.site);
    if (key.kind == "job") offered.insert(key.job);
    if (key.kind == "ended") reported.insert(key.job);
  }
  std::vector<Change> changes;
  for (const Record& record : records) {
    auto change = read(record);
    if (!change) continue;
    if (change->kind == Change::Kind::withdrawn && settled.contains({change->job, change->site})) continue;
    const bool win_went = change->kind == Change::Kind::ended && change->report.empty();
    if (win_went && (offered.contains(change->job) || reported.contains(change->job))) continue;
    if (const auto by = left.find(change->job); change->kind == Change::Kind::offered && by != left.end()) {
      change->kind = Change::Kind::forfeited;
      change->site = by->second;
    }
    change->revision = revision;
    changes.push_back(std::move(*change));
  }
  return changes;
}

std::optional<Change> RecordFold::read(const Record& record) {
  if (record.value.size() > kMostValue) return std::nullopt;
  const Key key = key_of(record.key);
  if (key.kind == "number") read_name(key, record);
  if (key.site.valid() && (key.kind == "site" || key.kind == "epoch" || key.kind == "last" || key.kind == "card")) {
    Site& site = sites_[key.site];
    if (key.kind == "site") return read_site(key.site, record);
    if (key.kind == "card") site.card = record.removed ? "" : record.value;
    if (key.kind == "epoch" && !record.removed) site.latest = record.revision;
    if (key.kind == "last" && !record.removed) {
      Words words(line_of(record.value));
      static_cast<void>(words.next_token());
      if (const std::int64_t serial = words.next(); words.good()) site.last = {serial, record.revision};
    }
    return std::nullopt;
  }
  if (key.job < 0) return std::nullopt;
  if (key.kind == "job") return read_job(key.job, record);
  if (key.kind == "claim") return read_claim(key.job, record);
  if (key.kind == "ended") return read_report(key.job, record);
  if (key.kind == "bid" && key.site.valid()) return read_bid(key.site, key.job, record);
  if (key.kind == "won" && key.site.valid()) return read_win(key.site, key.job, record);
  if (key.kind == "cancel" && key.site.valid()) return read_cancel(key.site, key.job, record);
  return std::nullopt;
}

void RecordFold::read_name(const Key& key, const Record& record) {
  const auto number = parse_integer(key.name);
  if (!number || *number < 0 || *number >= kMostSites || record.removed || !is_site_name(record.value)) return;
  const auto at = static_cast<std::size_t>(*number);
  if (record.key != keys_.number(static_cast<std::uint32_t>(at))) return;
  if (names_.size() <= at) names_.resize(at + 1);
  if (names_[at].empty()) names_[at] = record.value;  // and keeps it
}

// What goes may be the record of an earlier epoch, known late.
std::optional<Change> RecordFold::read_site(SiteId id, const Record& record) {
  Site& site = sites_[id];
  if (!record.removed) {
    site.epoch = record.revision;
    site.token = token_of(record.value);
    site.latest = std::max(site.latest, record.revision);
    return Change{.kind = Change::Kind::joined, .token = site.token, .site = id, .epoch = site.epoch};
  }
  const Epoch over = std::exchange(site.epoch, 0);
  if (over == 0) return std::nullopt;
  return Change{.kind = Change::Kind::gone, .site = id, .epoch = over};
}

std::optional<Change> RecordFold::read_job(std::int64_t job, const Record& record) {
  if (record.removed) {
    lots_.erase(job);
    return std::nullopt;
  }
  Words words(line_of(record.value));
  Lot lot{nullptr};
  lot.token = words.next_token();
  lot.holder = words.next_site();
  lot.holder_epoch = words.next();
  lot.offer = offer_in(job, words, record.value, unix_start_);
  lot.revision = record.revision;
  if (!lot.offer) return std::nullopt;
  lots_[job] = lot;
  Change change{.kind = lot.holder.valid() ? Change::Kind::put_back : Change::Kind::offered, .token = lot.token};
  change.site = lot.holder;
  change.epoch = lot.holder_epoch;
  change.job = job;
  change.offer = lot.offer;
  return change;
}

std::optional<Change> RecordFold::read_claim(std::int64_t job, const Record& record) {
  if (record.removed) {
    claims_.erase(job);
    return std::nullopt;
  }
  Words words(line_of(record.value));
  Claim claim;
  claim.token = words.next_token();
  claim.site = words.next_site();
  claim.epoch = words.next();
  claim.revision = record.revision;
  if (!words.good()) return std::nullopt;
  if (const std::size_t end = record.value.find('\n'); end != std::string::npos)
    claim.auction = record.value.substr(end + 1);
  claims_[job] = claim;
  return change_of(job, claim);
}

Change RecordFold::change_of(std::int64_t job, const Claim& claim) {
  Change change{.kind = Change::Kind::claimed, .revision = claim.revision, .token = claim.token, .site = claim.site};
  change.epoch = claim.epoch;
  change.job = job;
  change.auction = claim.auction;
  return change;
}

std::optional<Change> RecordFold::read_bid(SiteId site, std::int64_t job, const Record& record) {
  if (record.removed) {
    if (bids_.erase({job, site}) == 0) return std::nullopt;
    return Change{.kind = Change::Kind::withdrawn, .site = site, .job = job};
  }
  Words words(line_of(record.value));
  StandingBid row;
  row.token = words.next_token();
  row.bid = {site, words.next(), Duration{words.next()}};
  row.epoch = words.next();
  row.bid.input = Duration{words.next()};
  for (Price& part : row.bid.parts) part = words.next();
  row.bid.fact = static_cast<std::uint64_t>(words.next());
  row.revision = record.revision;
  if (!words.good()) return std::nullopt;
  bids_[{job, site}] = row;
  Change change{.kind = Change::Kind::bid, .token = row.token, .site = site, .epoch = row.epoch};
  change.job = job;
  change.bid = row.bid;
  return change;
}

std::optional<Change> RecordFold::read_report(std::int64_t job, const Record& record) {
  if (record.removed) {
    const auto gone = reports_.extract(job);
    if (!gone) return std::nullopt;
    return Change{.kind = Change::Kind::noted, .site = gone.mapped().home, .job = job};
  }
  Words words(line_of(record.value));
  Report report{};
  report.token = words.next_token();
  report.site = words.next_site();
  report.home = words.next_site();
  report.revision = record.revision;
  const std::size_t end = record.value.find('\n');
  if (!words.good() || end == std::string::npos) return std::nullopt;
  report.text = record.value.substr(end + 1);
  reports_[job] = report;
  return change_of(job, report);
}

Change RecordFold::change_of(std::int64_t job, const Report& report) {
  Change change{.kind = Change::Kind::ended, .revision = report.revision, .token = report.token, .site = report.site};
  change.job = job;
  change.report = report.text;
  change.home = report.home;
  return change;
}

std::optional<Change> RecordFold::read_win(SiteId site, std::int64_t job, const Record& record) {
  if (record.removed) {
    if (wins_.erase({job, site}) == 0) return std::nullopt;
    return Change{.kind = Change::Kind::ended, .site = site, .job = job};
  }
  Words words(line_of(record.value));
  const Token token = words.next_token();
  const auto offer = offer_in(job, words, record.value, unix_start_);
  if (!offer) return std::nullopt;
  wins_[{job, site}] = {site, offer, token, record.revision};
  Change change{.kind = Change::Kind::settled, .token = token, .site = site, .job = job};
  change.offer = offer;
  return change;
}

// That it goes follows from what becomes of the job.
std::optional<Change> RecordFold::read_cancel(SiteId home, std::int64_t job, const Record& record) {
  if (record.removed) {
    cancels_.erase({job, home});
    return std::nullopt;
  }
  const Token token = token_of(record.value);
  cancels_[{job, home}] = token;
  return Change{.kind = Change::Kind::cancelled, .token = token, .site = home, .job = job};
}

std::vector<Change> RecordFold::all_changes(Revision revision) const {
  std::vector<Change> all{{.kind = Change::Kind::resync, .revision = revision}};
  for (const auto& [id, site] : sites_) {
    if (site.epoch != 0)
      all.push_back(
          {.kind = Change::Kind::joined, .revision = site.epoch, .token = site.token, .site = id, .epoch = site.epoch});
    Change counted{.kind = Change::Kind::counted, .revision = revision, .site = id, .epoch = site.latest};
    counted.last = site.last.serial;
    all.push_back(std::move(counted));
  }
  for (const auto& [job, lot] : lots_) {
    Change change{.kind = Change::Kind::offered, .revision = lot.revision, .token = lot.token, .site = lot.holder};
    change.epoch = lot.holder_epoch;
    change.job = job;
    change.offer = lot.offer;
    all.push_back(std::move(change));
    const Claim claim = claim_on(job);
    if (claim.revision != 0) all.push_back(change_of(job, claim));
  }
  for (const auto& [key, row] : bids_) {
    Change change{.kind = Change::Kind::bid, .revision = row.revision, .token = row.token, .site = key.second};
    change.epoch = row.epoch;
    change.job = key.first;
    change.bid = row.bid;
    all.push_back(std::move(change));
  }
  for (const auto& [key, win] : wins_) {
    Change change{.kind = Change::Kind::settled, .revision = win.revision, .token = win.token, .site = win.site};
    change.job = key.first;
    change.offer = win.offer;
    all.push_back(std::move(change));
  }
  for (const auto& [key, token] : cancels_)
    all.push_back(
        {.kind = Change::Kind::cancelled, .revision = revision, .token = token, .site = key.second, .job = key.first});
  for (const auto& [job, report] : reports_) all.push_back(change_of(job, report));
  all.push_back({.kind = Change::Kind::resynced, .revision = revision});
  return all;
}

}  // namespace rota::etcd
