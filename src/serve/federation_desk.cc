#include "serve/federation_desk.h"

#include <fmt/core.h>
#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/text.h"
#include "model/never_fits.h"
#include "serve/end_report.h"
#include "serve/federation_join.h"
#include "serve/output_pattern.h"

namespace rota::serve {
namespace {

constexpr std::chrono::milliseconds kLookAgain{100};
constexpr std::chrono::seconds kCardAgain{5};        // what changes of it is put so often
constexpr std::chrono::milliseconds kCardSoon{200};  // until the site has joined

// Files that are named by numbers have those of the job's home wherever it runs.
void name_files(const JobEntry& entry, JobRequest& request) {
  const About& about = *entry.about;
  if (request.output.empty()) request.output = about.array > 0 ? "rota-%A_%a.out" : "rota-%j.out";
  const PatternWords words{.job = entry.number,
                           .array = about.array > 0 ? about.array : entry.number,
                           .index = std::max<std::int64_t>(0, entry.index),
                           .name = about.name,
                           .user = about.user};
  for (std::string* file : {&request.output, &request.error, &request.input}) *file = fill_in_at_home(*file, words);
}

// What a home has numbered so; no serial where the job is another home's.
std::int64_t serial_at(SiteId home, std::int64_t number) { return number - federation_number(home, 0); }

}  // namespace

FederationDesk::FederationDesk(const Uses& uses, SiteId self)
    : uses_(uses), self_(self), offers_(uses.desk.loop().unix_start()) {}
FederationDesk::~FederationDesk() { *stands_ = false; }

Result<std::unique_ptr<FederationDesk>> FederationDesk::open(const Uses& uses, LiveEngine& engine, const Chain& chain) {
  auto options = TRY(etcd_options(uses.desk, uses.settings));
  const SiteId self = TRY(number_of_site(uses.desk, uses.settings, options));
  std::unique_ptr<FederationDesk> made(new FederationDesk(uses, self));
  FederationDesk& desk = *made;
  if (!uses.settings.secret.empty()) desk.seal_ = TRY(Seal::read(uses.settings.secret));
  options.payload = [&desk](const Offer& offer) { return desk.payload_of(offer); };
  desk.exchange_ = TRY(EtcdExchange::open(uses.desk.loop(), options, [&io = uses.io, stands = desk.stands_](auto call) {
    boost::asio::post(io, [stands, call = std::move(call)] {
      if (*stands) call();
    });
  }));
  desk.cards_ = std::make_unique<SiteCards>(*desk.exchange_);
  desk.stage_ =
      TRY(StageDesk::open({uses.io, uses.desk.loop(), uses.desk.log(), *desk.exchange_, desk.offers_, *desk.cards_,
                           uses.settings, desk.seal_, self},
                          {[&desk](std::int64_t job) { desk.later([&desk, job] { desk.member_->arrived(job); }); },
                           [&desk](std::int64_t job) { return desk.where_is(job); },
                           [&desk](std::int64_t serial) { return desk.is_away(serial); }}));
  desk.member_ = std::make_unique<Member>(
      self, member_rules(chain, uses.desk, uses.settings),
      Member::Ports{desk, engine, *desk.stage_, desk, *desk.exchange_, uses.desk.loop(), &uses.desk.journal()});
  return made;
}

// An etcd that was set up anew has to learn the number first.
void FederationDesk::begin() {
  stage_->begin();
  go_on_with_own_jobs();
  refresh_card();
  exchange_->find_number(name(), self_, [this](SiteId number) {
    if (number == self_) return member_->open(uses_.desk.now(), view().epoch());
    uses_.desk.log().warn(
        fmt::format("federation: etcd knows {} as site {}, and this state as site {}: it takes no part. Begin with a "
                    "state of its own, or give etcd back what it had.",
                    name(), number.value, self_.value));
  });
}

void FederationDesk::stop() {
  *stands_ = false;
  stage_->stop();
}

// Not at once: each look is at all that is on offer.
void FederationDesk::follow_load() {
  if (looks_soon_ || !member_->has_news_of_load()) return;
  looks_soon_ = true;
  uses_.desk.loop().later(
      [this, stands = stands_] {
        if (!*stands) return;
        looks_soon_ = false;
        member_->load_changed(std::exchange(beyond_share_, {}));
      },
      kLookAgain);
}

void FederationDesk::refresh_card() {
  const Epoch epoch = exchange_->epoch_of(self_);
  if (epoch != 0) {
    card_time_.run([&] {
      const std::string card = card_text(own_card());
      if (exchange_->card_of(self_) != card) exchange_->put_card(self_, epoch, card);
    });
  }
  uses_.desk.loop().later(
      [this, stands = stands_] {
        if (*stands) refresh_card();
      },
      epoch == 0 ? kCardSoon : kCardAgain);
}

// ---- jobs of this home

Result<void> FederationDesk::offer(JobId job, const Caller& caller, const JobRequest& request) {
  Offer offer;
  offer.spec = view().job(job).spec;
  offer.serial = offer.spec.number;
  offer.spec.number = federation_number(self_, offer.serial);
  offer.home = offer.data = self_;
  offer.submitted = uses_.desk.now();
  Travelling travelling{caller.user, request, seal_.has_key()};
  JobRequest& asked = travelling.request;
  const JobEntry& entry = *uses_.book.find(job);
  const std::int64_t array = entry.about->array;
  if (array > 0) travelling.task = ArrayTask{array, entry.index, entry.about->indexes};
  asked.array.clear();
  name_files(entry, asked);
  const std::string run = run_text(request.script, request.command, zero_ended(request.environment));
  travelling.run_bytes = static_cast<std::int64_t>(run.size());
  offer.request = offer_text(travelling, uses_.desk.loop().unix_start());
  if (offer.request.size() > kMostOffered || run.size() > kMostRun)
    return fail(
        "what the job runs (script, command, environment) takes {}, and all else that it asks for {}; a job that goes "
        "to other sites may have {} and {}.",
        format_size(travelling.run_bytes), format_size(static_cast<std::int64_t>(offer.request.size())),
        format_size(kMostRun), format_size(kMostOffered));
  if (travelling.has_files()) stage_->give(offer.serial, {caller.uid, caller.gid}, request);
  return uses_.desk.record(Offered{std::move(offer)});
}

Result<void> FederationDesk::can_be_offered(const JobRequest& request) const {
  for (const std::string_view site : split(request.sites, ',')) {
    const bool known = site == "any" || std::ranges::find(exchange_->names(), site) != exchange_->names().end();
    if (!known && !exchange_->names().empty())
      return fail("no site of the federation is called {}; `rota sites` lists them.", rota::quoted(site));
  }
  return may_travel(request, uses_.settings);
}

bool FederationDesk::is_away(std::int64_t serial) const {
  const JobId job = uses_.book.numbered(serial);
  return job.valid() && view().knows(job) && !view().job(job).gone() && !view().job(job).ours();
}

// After a start: the copy of what a job needs may not have been made, and one that is to be cancelled not recalled.
void FederationDesk::go_on_with_own_jobs() {
  std::vector<JobId> recalled;
  uses_.book.for_each([&](JobId id, const JobEntry& entry) {
    if (!is_away(entry.number)) return true;
    if ((view().job(id).bars & kHeldByOperator) != 0) recalled.push_back(id);
    const About& about = *entry.about;
    JobRequest request;
    request.folder = about.folder;
    request.stage_in = rota::text_of(about.texts, "stage_in");
    const bool files = !request.stage_in.empty() || !rota::text_of(about.texts, "stage_out").empty();
    if (files && !stage_->gives(entry.number)) stage_->give(entry.number, {about.uid, about.gid}, request);
    return true;
  });
  for (const JobId job : recalled) member_->recall(number_of(job));
}

std::int64_t FederationDesk::number_of(JobId job) const {
  return federation_number(self_, view().job(job).spec.number);
}

// Held until then: that says so to the service's next life, and the job does not run.
Result<void> FederationDesk::cancel(JobId job) {
  if ((view().job(job).bars & kHeldByOperator) == 0) TRY(uses_.desk.record(Held{job, kHeldByOperator}));
  member_->recall(number_of(job));
  return {};
}

JobId FederationDesk::bring_home(const Offer& offer) {
  const JobId job = uses_.book.numbered(offer.serial);
  if (!job.valid() || view().job(job).gone()) return {};
  come_home(job);
  return job;
}

// What it was held by does not go with it.
void FederationDesk::leave_home(JobId job) {
  static_cast<void>(uses_.desk.record(Held{job, kNotOurs}));
  for (const Bars held : {kHeldByUser, kHeldByOperator}) {
    if ((view().job(job).bars & held) != 0) static_cast<void>(uses_.desk.record(Released{job, held}));
  }
}

// One that was cancelled meanwhile is held by an operator (cancel). One that cannot run here only comes where etcd has
// forgotten it.
void FederationDesk::come_home(JobId job) {
  const Bars bars = view().job(job).bars;
  const bool cancelled = (bars & kHeldByOperator) != 0;
  const std::string why = only_elsewhere(job);
  if (!why.empty() && !cancelled)
    uses_.records.note(job, fmt::format("etcd knows nothing of it any more, and it cannot run here: {}", why));
  if ((bars & kNotOurs) != 0) static_cast<void>(uses_.desk.record(Released{job, kNotOurs}));
  note_site(job, "site", uses_.settings.name);
  if (cancelled || !why.empty()) static_cast<void>(uses_.desk.record(Cancelled{job}));
}

// What it has left comes home first.
void FederationDesk::reported(std::int64_t number, SiteId site, const std::string& report) {
  later([this, number, site, report] {
    const std::int64_t serial = serial_at(self_, number);
    const JobId job = uses_.book.numbered(serial);
    const JobEntry* entry = is_away(serial) ? uses_.book.find(job) : nullptr;
    if (entry == nullptr || !read_end_report(report).files) return record_end(number, site, report);
    if (!coming_home_.emplace(job, site).second) return;
    const About& about = *entry->about;
    const auto call = [this, number, site, report, job](const std::string& why) {
      coming_home_.erase(job);
      if (!why.empty() && view().knows(job))
        uses_.records.note(job, fmt::format("What it has left at {} could not be brought: {}.", name_of(site), why));
      later([this, number, site, report] { record_end(number, site, report); });
    };
    JobRequest asked;
    asked.stage_out = rota::text_of(about.texts, "stage_out");
    asked.output = about.output;
    asked.error = about.error;
    name_files(*entry, asked);
    stage_->bring_home({serial, site, {about.uid, about.gid}, about.folder, paths_home(asked), call});
  });
}

// An etcd that was restored from a copy may have forgotten jobs, which come home, and have others that have ended.
void FederationDesk::all_known() {
  later([this] {
    std::set<std::int64_t> known;
    for (const std::int64_t number : exchange_->jobs_of(self_)) {
      const JobId job = uses_.book.numbered(serial_at(self_, number));
      if (!job.valid() || view().job(job).gone()) member_->recall(number);
      known.insert(number);
    }
    std::vector<JobId> forgotten;
    uses_.book.for_each([&](JobId id, const JobEntry& entry) {
      const std::int64_t number = federation_number(self_, entry.number);
      const bool waits = is_away(entry.number) && !view().trades().offered().contains(entry.number);
      if (waits && !known.contains(number) && !exchange_->reports_on(number)) forgotten.push_back(id);
      return true;
    });
    for (const JobId job : forgotten) {
      uses_.desk.log().warn(
          fmt::format("federation: etcd knows nothing of job {} any more: it comes home", uses_.book.shown(job)));
      come_home(job);
    }
  });
}

void FederationDesk::record_end(std::int64_t number, SiteId site, const std::string& text) {
  const std::int64_t serial = serial_at(self_, number);
  if (is_away(serial)) {
    const JobId job = uses_.book.numbered(serial);
    note_site(job, "site", name_of(site));
    uses_.book.find(job)->hear().nodes = name_of(site);  // it ran on none of this site's
    const EndReport report = read_end_report(text);
    const RealLoop& loop = uses_.desk.loop();
    if (!report.why.empty()) uses_.records.note(job, report.why);
    const Instant start = std::clamp(loop.instant_of(report.start), view().job(job).spec.submit, view().now());
    const auto done =
        uses_.desk.record(EndedElsewhere{job, site, start, report.outcome, report.status}, loop.instant_of(report.end));
    if (!done) uses_.desk.log().warn("federation: " + done.error().message);
  }
  member_->noted(number);
}

// ---- jobs that come here

// What other sites can run, their cards say. Where the input of a job is, and whether it can be had, decides
// everywhere.
std::optional<JobSpec> FederationDesk::asked_at(SiteId site, const Offer& offer) const {
  const Travelling* asks = offers_.find(offer);
  if (asks == nullptr || exchange_->epoch_of(site) == 0) return std::nullopt;
  if (!names_site(asks->request.sites, name_of(site))) return std::nullopt;
  if (offer.spec.number != federation_number(offer.home, offer.serial)) return std::nullopt;
  const bool elsewhere = offer.data != site;
  if (elsewhere && asks->has_files() && exchange_->epoch_of(offer.data) == 0) return std::nullopt;
  if (site != self_) {
    const SiteCard* card = cards_->find(site);
    if (card == nullptr)
      return asks->has_files() ? std::nullopt : std::optional(offer.spec);  // it has said nothing yet
    const bool has_room_for_files = !asks->has_files() || !elsewhere || !card->address.empty();
    return has_room_for_files && may_run(*card, asks->request) ? std::optional(offer.spec) : std::nullopt;
  }
  const Machine& machine = *uses_.desk.machine();
  std::optional<JobSpec> spec;
  if (offer.home == self_) {
    const bool for_sale = is_away(offer.serial) || view().trades().guests().contains(offer.spec.number);
    if (for_sale && only_elsewhere(uses_.book.numbered(offer.serial)).empty())
      spec = view().job(uses_.book.numbered(offer.serial)).spec;
  } else if (may_come(*asks, name_of(offer.home), seal_.has_key(), uses_.settings)) {
    auto asked = spec_of(asks->request, machine);
    const bool shares = asked && has_share_for(*asked, offer.spec.number);
    if (asked && !shares) beyond_share_.insert(offer.spec.number);
    if (shares) {
      const std::int32_t most = priority_here(name_of(offer.home), asks->user, asks->request.priority, uses_.settings);
      asked->priority += most - asks->request.priority;
      spec = std::move(*asked);
    }
  }
  if (!spec || never_fits(machine, *spec)) return std::nullopt;
  spec->number = offer.spec.number;
  return spec;
}

std::string FederationDesk::only_elsewhere(JobId job) const {
  const JobEntry* entry = uses_.book.find(job);
  return entry == nullptr ? "" : rota::text_of(entry->about->texts, "only_elsewhere");
}

bool FederationDesk::runs_elsewhere(const JobRequest& request) const {
  for (std::uint32_t s = 0; s < sites(); ++s) {
    const SiteCard* card = SiteId{s} == self_ ? nullptr : cards_->find(SiteId{s});
    if (card != nullptr && names_site(request.sites, name_of(SiteId{s})) && may_run(*card, request)) return true;
  }
  return false;
}

// Processors of jobs of other homes that are here or on their way are counted. An offer from elsewhere says by names
// what it asks for, and not in its spec.
bool FederationDesk::has_share_for(const JobSpec& spec, std::int64_t number) const {
  using enum Trades::Guest::Stage;
  if (uses_.settings.share == 100) return true;
  std::int64_t held = spec.processors;
  for (const auto& [other, guest] : view().trades().guests()) {
    if (other == number || guest.offer.home == self_ || guest.stage == over) continue;
    const Travelling* asks = guest.stage == queued ? nullptr : offers_.find(guest.offer);
    if (guest.stage == queued) held += view().job(guest.id).spec.processors;
    if (asks != nullptr) held += asks->request.processors;
  }
  return held * 100 <= uses_.desk.machine()->processors * uses_.settings.share;
}

void FederationDesk::submit(const Offer& offer, const JobSpec& /*spec*/, Instant /*input*/, bool ahead) {
  later([this, offer, ahead] {
    if (offer.home == self_) return member_->queued(offer.spec.number, bring_home(offer));
    const auto job = take_in(offer, ahead);
    if (job) return member_->queued(offer.spec.number, *job);
    uses_.desk.log().warn(fmt::format("federation: job {}:{} was won and cannot run here: {}", name_of(offer.home),
                                      offer.serial, job.error().message));
    const std::int64_t now = uses_.desk.loop().unix_milliseconds(uses_.desk.now());
    member_->queued(
        offer.spec.number, {},
        text_of(EndReport{Outcome::failed, 0, now, now, false,
                          fmt::format("{} has won it and cannot run it: {}", name_of(self_), job.error().message)}));
  });
}

Result<JobId> FederationDesk::take_in(const Offer& offer, bool ahead) {
  const Travelling* asks = offers_.find(offer);
  const auto guest = view().trades().guests().find(offer.spec.number);
  if (asks == nullptr || guest == view().trades().guests().end()) return fail("its offer cannot be read.");
  const std::string home = name_of(offer.home);
  const auto caller = user_here(home, asks->user, uses_.settings);
  if (!caller) return fail("its user is none of this site any more.");
  JobRequest request = asks->request;
  TRY(stage_->equip(offer, request));
  request.sites.clear();  // it has come to where it stays
  request.priority = priority_here(home, asks->user, request.priority, uses_.settings);
  const JobId job = TRY(uses_.job_desk.submit_guest(*caller, request, asks->task, guest->second.number, ahead));
  note_site(job, "home", fmt::format("{}:{}", home, offer.serial));
  if (const auto auction = auctions_.extract(offer.spec.number)) note_site(job, "auction", auction.mapped());
  return job;
}

// The number that a job which is won has here.
void FederationDesk::tell(const Observed& fact) {
  later([this, fact] {
    Observed said = fact;
    if (auto* traded = std::get_if<Traded>(&said); traded != nullptr && traded->trade == Trade::won) {
      traded->number = traded->offer.home == self_ ? traded->offer.serial : view().last_number() + 1;
    }
    if (auto done = uses_.desk.record(said); !done) uses_.desk.log().warn("federation: " + done.error().message);
  });
}

// A job of this home may come back.
void FederationDesk::take_back(std::int64_t number, JobId id) {
  if (!id.valid()) return;
  later([this, number, id] {
    if (!view().knows(id) || view().job(id).gone()) return;
    if (uses_.book.numbered(serial_at(self_, number)) == id) return leave_home(id);
    uses_.records.note(id, "It went on to another site, where it starts sooner.");
    static_cast<void>(uses_.desk.record(Cancelled{id}));
  });
}

// A guest that is not this site's any more was forfeited, and has no home to report to.
void FederationDesk::cancel_guest(std::int64_t number, JobId id) {
  later([this, number, id] {
    const auto guest = view().trades().guests().find(number);
    const std::string why = guest == view().trades().guests().end()
                                ? "An operator of the federation has given it to other sites, while this one was away."
                                : fmt::format("It was cancelled at its home, {}.", name_of(guest->second.offer.home));
    if (!id.valid()) {
      const std::int64_t now = uses_.desk.loop().unix_milliseconds(uses_.desk.now());
      return member_->queued(number, {}, text_of(EndReport{Outcome::cancelled, 0, now, now}));
    }
    if (!view().knows(id) || view().job(id).gone()) return;
    uses_.records.note(id, why);
    const bool runs = view().job(id).state == JobState::running;
    static_cast<void>(runs ? uses_.desk.record(CancelAsked{id}) : uses_.desk.record(Cancelled{id}));
  });
}

void FederationDesk::not_started(const Command& give_way) {
  later([this, job = give_way.job, dispatch = give_way.dispatch] {
    static_cast<void>(uses_.desk.record(Vacated{job, Duration{0}, dispatch}));
  });
}

std::string FederationDesk::report_on(const Trades::Guest& guest) {
  if (guest.offer.home == self_) return "";
  const RealLoop& loop = uses_.desk.loop();
  const std::int64_t now = loop.unix_milliseconds(uses_.desk.now());
  EndReport report{Outcome::failed, 0, now, now};
  if (const auto row = uses_.jobs.history_of_number(guest.number); row && *row) {
    report.outcome = outcome_of((*row)->state);
    report.status = ((*row)->exit_code << 8) | (*row)->signal;
    report.end = loop.unix_milliseconds((*row)->end);
    report.start = (*row)->start == kNever ? report.end : loop.unix_milliseconds((*row)->start);
    report.files = stage_->give_back(guest.offer);
  }
  return text_of(report);
}

void FederationDesk::job_gone(JobId id, const Job& job) {
  const JobEntry* entry = uses_.book.find(id);
  const std::int32_t status = entry == nullptr ? 0 : entry->status;
  const std::string why = entry == nullptr ? "" : entry->heard().message;
  uses_.records.job_gone(id, job);
  const Trades::Guest* guest = view().trades().with_number(job.spec.number);
  if (guest == nullptr || guest->id != id) return;
  const RealLoop& loop = uses_.desk.loop();
  const Instant end = job.end == kNever ? view().now() : job.end;
  std::string report;
  if (guest->offer.home != self_) {
    report = text_of(EndReport{outcome_of(state_word(job)), status,
                               loop.unix_milliseconds(job.start == kNever ? end : job.start),
                               loop.unix_milliseconds(end), stage_->give_back(guest->offer), why});
  }
  later([this, id, number = guest->offer.spec.number, report] { member_->job_gone(id, number, report); });
}

StageDesk::Guest FederationDesk::where_is(std::int64_t number) const {
  using enum StageDesk::Guest;
  const auto guest = view().trades().guests().find(number);
  const bool known = guest != view().trades().guests().end();
  if (known && guest->second.stage != Trades::Guest::Stage::over) return here;
  return known || exchange_->reports_on(number) ? over : none;
}

// ---- between them

void FederationDesk::later(std::function<void()> call) {
  asked_.push_back(std::move(call));
  if (asked_.size() > 1) return;
  boost::asio::post(uses_.io, [this, stands = stands_] {
    if (!*stands) return;
    for (const auto& each : std::exchange(asked_, {})) each();
    static_cast<void>(uses_.desk.decide());
  });
}

void FederationDesk::note_site(JobId job, const std::string& what, const std::string& text) {
  JobEntry* entry = uses_.book.find(job);
  if (entry == nullptr) return;
  About about = *entry->about;
  set_text(about.texts, what, text);
  uses_.job_desk.reword(job, about);
}

}  // namespace rota::serve
