#include "serve/federation_desk.h"

#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "model/never_fits.h"
#include "serve/request_json.h"

namespace rota::serve {
namespace {

constexpr const char* kNumber = "federation";  // in the store: the site's name and number
constexpr std::chrono::seconds kFirstAnswer{15};
constexpr Duration kRequestAgain = seconds(3);              // after which a request without an outcome is sent again
constexpr std::size_t kMostBytes = std::size_t{64} << 10U;  // that an offer may have

// What an offer says beside the wishes.
struct Travelling {
  std::string user;
  JobRequest request;
};

std::string text_of(const Caller& caller, const JobRequest& request, std::int64_t unix_start) {
  return Json{{"user", caller.user}, {"request", json_of(request, unix_start)}}.dump(-1, ' ', false,
                                                                                     Json::error_handler_t::replace);
}

Result<Travelling> read_offer(const std::string& text, std::int64_t unix_start) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("user") || !json["user"].is_string() || !json.contains("request"))
    return fail("what the job asks for cannot be read.");
  auto request = TRY(read_request(json["request"], unix_start));
  return Travelling{json["user"].get<std::string>(), std::move(request)};
}

// The user of that name here. A service that is not root runs jobs as its own user, and so takes those of that user
// alone.
std::optional<Caller> user_here(const std::string& name, const site::FederationSettings& settings) {
  const passwd* user = ::getpwnam(name.c_str());
  if (user == nullptr || (::geteuid() != 0 && user->pw_uid != ::geteuid())) return std::nullopt;
  if (user->pw_uid == 0 && !settings.takes_root) return std::nullopt;
  return Caller{user->pw_uid, user->pw_gid, name, false};
}

// Whether the wish of that name lets the job run at a site.
bool names_site(std::string_view sites, const std::string& name) {
  const auto named = split(sites, ',');
  return sites == "any" || std::ranges::find(named, name) != named.end();
}

// How a job ended, for its home: outcome, status, and when, in milliseconds since 1970.
std::string report_text(Outcome outcome, std::int32_t status, std::int64_t start, std::int64_t end) {
  return fmt::format("{} {} {} {}", static_cast<int>(outcome), status, start, end);
}

Outcome outcome_of(std::string_view word) {
  for (const Outcome outcome : {Outcome::completed, Outcome::timed_out, Outcome::failed, Outcome::node_failed,
                                Outcome::out_of_memory, Outcome::cancelled}) {
    Job job;
    job.state = state_after(outcome);
    if (state_word(job) == word) return outcome;
  }
  return Outcome::unknown;
}

MemberRules rules_of(const Chain& chain, const Desk& desk, const site::FederationSettings& settings) {
  AuctionKnobs knobs = chain.knobs().auction;
  if (!knobs.auctions()) {  // the policy says nothing of sites
    const auto announced = Chain::parse("fcfs+auction=announced");
    CHECK(announced, "the rule that holds where none is given is a rule");
    knobs = announced->knobs().auction;
  }
  MemberRules rules;
  rules.dispatch = dispatch_rules(knobs, desk.machine()->partitions);
  rules.dispatch.second_thoughts = false;  // a job that was won stays
  rules.dispatch.bids_again = Duration{0};
  rules.dispatch.lease = settings.lease;
  rules.dispatch.patience = kRequestAgain;
  rules.ahead = knobs.head;
  return rules;
}

}  // namespace

FederationDesk::FederationDesk(const Uses& uses, SiteId self) : uses_(uses), self_(self) {}
FederationDesk::~FederationDesk() { *stands_ = false; }

Result<EtcdExchangeOptions> FederationDesk::options_of(const Uses& uses) {
  const site::FederationSettings& settings = uses.settings;
  EtcdExchangeOptions options;
  options.client.endpoints = settings.endpoints;
  options.prefix = settings.prefix;
  options.unix_start = uses.desk.loop().unix_start();
  options.say = [&log = uses.desk.log()](const std::string& sentence) { log.say("federation: " + sentence); };
  for (const auto& [path, into] :
       {std::pair{&settings.authority, &options.client.authority},
        std::pair{&settings.certificate, &options.client.certificate}, std::pair{&settings.key, &options.client.key}}) {
    if (!path->empty()) *into = TRY(read_file(*path));
  }
  return options;
}

// Asked on a loop of its own: nothing else of the service has its turn meanwhile.
Result<SiteId> FederationDesk::number_of_site(const Uses& uses, const EtcdExchangeOptions& options) {
  const std::string& name = uses.settings.name;
  if (const auto kept = TRY(uses.desk.store().setting(kNumber))) {
    const auto words = split(*kept, ' ');
    const auto number = parse_integer(words.back());
    if (words.front() != name || !number)
      return fail(
          "[federation] calls this site {}, and its state was made as {}: its jobs are known by that name. Give it "
          "back, or begin with another state.",
          rota::quoted(name), rota::quoted(words.front()));
    return SiteId{static_cast<std::uint32_t>(*number)};
  }
  boost::asio::io_context io;
  RealLoop loop(io, options.unix_start);
  std::optional<SiteId> number;
  const auto exchange =
      TRY(EtcdExchange::open(loop, options, [&io](auto call) { boost::asio::post(io, std::move(call)); }));
  exchange->find_number(name, {}, [&](SiteId site) { number = site; });
  const auto work = boost::asio::make_work_guard(io);
  const auto end = std::chrono::steady_clock::now() + kFirstAnswer;
  while (!number && std::chrono::steady_clock::now() < end) io.run_one_until(end);
  if (!number)
    return fail("etcd at {} cannot be asked, as it has to be when a site joins for the first time{}{}",
                uses.settings.endpoints.front(), exchange->trouble().empty() ? "." : ": ", exchange->trouble());
  uses.desk.store().put_setting(kNumber, fmt::format("{} {}", name, number->value));
  return *number;
}

Result<std::unique_ptr<FederationDesk>> FederationDesk::open(const Uses& uses, LiveEngine& engine, const Chain& chain) {
  const auto options = TRY(options_of(uses));
  const SiteId self = TRY(number_of_site(uses, options));
  std::unique_ptr<FederationDesk> desk(new FederationDesk(uses, self));
  desk->exchange_ =
      TRY(EtcdExchange::open(uses.desk.loop(), options, [&io = uses.io, stands = desk->stands_](auto call) {
        boost::asio::post(io, [stands, call = std::move(call)] {
          if (*stands) call();
        });
      }));
  desk->member_ = std::make_unique<Member>(
      self, rules_of(chain, uses.desk, uses.settings),
      Member::Ports{*desk, engine, *desk, *desk, *desk->exchange_, uses.desk.loop(), &uses.desk.journal()});
  return desk;
}

// An etcd that was set up anew has to learn the number first.
void FederationDesk::begin() {
  exchange_->find_number(name(), self_, [this](SiteId number) {
    if (number == self_) return member_->open(uses_.desk.now(), view().epoch());
    uses_.desk.log().warn(
        fmt::format("federation: etcd knows {} as site {}, and this state as site {}: it takes no part. Begin with a "
                    "state of its own, or give etcd back what it had.",
                    name(), number.value, self_.value));
  });
}

void FederationDesk::stop() { *stands_ = false; }

// ---- jobs of this home

Result<void> FederationDesk::can_be_offered(const JobRequest& request) {
  const std::pair<bool, const char*> kinds[] = {{!request.array.empty(), "an array"},
                                                {!request.after.empty(), "a job that waits for others"},
                                                {request.held, "a job that is held"},
                                                {!request.attach.socket.empty(), "a job at a terminal"},
                                                {!request.required_nodes.empty(), "a job that names its nodes"}};
  for (const auto& [is, what] : kinds) {
    if (is) return fail("{} cannot go to other sites; submit it without `sites`.", what);
  }
  return {};
}

Result<void> FederationDesk::offer(JobId job, const Caller& caller, const JobRequest& request) {
  Offer offer;
  offer.spec = view().job(job).spec;
  offer.serial = offer.spec.number;
  offer.spec.number = federation_number(self_, offer.serial);
  offer.home = offer.data = self_;
  offer.submitted = uses_.desk.now();
  offer.request = text_of(caller, request, uses_.desk.loop().unix_start());
  if (offer.request.size() > kMostBytes)
    return fail(
        "script, environment and all else that the job needs take {}, and a job that goes to other sites may "
        "have {}.",
        format_size(static_cast<std::int64_t>(offer.request.size())), format_size(kMostBytes));
  return uses_.desk.record(Offered{std::move(offer)});
}

std::int64_t FederationDesk::number_of(JobId job) const {
  return federation_number(self_, view().job(job).spec.number);
}

std::string FederationDesk::site_of(JobId job) const {
  const SiteId site = member_->away(number_of(job));
  return site.valid() ? name_of(site) : "";
}

// Held until then: should the service end before, the job does not run.
Result<void> FederationDesk::cancel(JobId job) {
  if (const std::string site = site_of(job); !site.empty())
    return fail("job {} is at site {}; cancel it there.", uses_.book.shown(job), site);
  if ((view().job(job).bars & kHolds) == 0) TRY(uses_.desk.record(Held{job, kHeldByOperator}));
  member_->recall(number_of(job));
  return {};
}

JobId FederationDesk::bring_home(const Offer& offer) {
  const JobId job = uses_.book.numbered(offer.serial);
  if (!job.valid() || view().job(job).gone()) return {};
  const Bars bars = view().job(job).bars;
  if ((bars & kNotOurs) != 0) static_cast<void>(uses_.desk.record(Released{job, kNotOurs}));
  note_site(job, "site", uses_.settings.name);
  if ((bars & kHeldByOperator) != 0) later([this, job] { static_cast<void>(uses_.desk.record(Cancelled{job})); });
  return job;
}

void FederationDesk::reported(std::int64_t number, SiteId site, const std::string& report) {
  later([this, number, site, report] {
    const JobId job = uses_.book.numbered(number - federation_number(self_, 0));
    const auto words = split(report, ' ');
    std::vector<std::int64_t> numbers;
    for (const std::string_view word : words) numbers.push_back(parse_integer(word).value_or(0));
    numbers.resize(4);
    if (job.valid() && !view().job(job).gone() && !view().job(job).ours()) {
      note_site(job, "site", name_of(site));
      uses_.book.find(job)->hear().nodes = name_of(site);  // it ran on none of this site's
      const auto outcome =
          static_cast<Outcome>(std::clamp<std::int64_t>(numbers[0], 0, static_cast<std::int64_t>(Outcome::unknown)));
      const RealLoop& loop = uses_.desk.loop();
      const Instant start = std::clamp(loop.instant_of(numbers[2]), view().job(job).spec.submit, view().now());
      const auto done =
          uses_.desk.record(EndedElsewhere{job, site, start, outcome, static_cast<std::int32_t>(numbers[1])},
                            loop.instant_of(numbers[3]));
      if (!done) uses_.desk.log().warn("federation: " + done.error().message);
    }
    member_->noted(number);
  });
}

// ---- jobs that come here

std::optional<JobSpec> FederationDesk::asked_at(SiteId site, const Offer& offer) const {
  if (site != self_) {  // what others can run they know; that they live is seen at the exchange
    return exchange_->epoch_of(site) != 0 ? std::optional(offer.spec) : std::nullopt;
  }
  const Machine& machine = *uses_.desk.machine();
  if (offer.home == self_) {
    const JobId job = uses_.book.numbered(offer.serial);
    if (!job.valid() || never_fits(machine, view().job(job).spec)) return std::nullopt;
    if (!names_site(rota::text_of(uses_.book.find(job)->about->texts, "sites"), uses_.settings.name))
      return std::nullopt;
    JobSpec spec = view().job(job).spec;
    spec.number = offer.spec.number;
    return spec;
  }
  const auto offered = read_offer(offer.request, uses_.desk.loop().unix_start());
  if (!offered || !user_here(offered->user, uses_.settings) || !names_site(offered->request.sites, uses_.settings.name))
    return std::nullopt;
  auto spec = spec_of(offered->request, machine);
  if (!spec || never_fits(machine, *spec)) return std::nullopt;
  spec->number = offer.spec.number;
  return *spec;
}

void FederationDesk::submit(const Offer& offer, const JobSpec& /*spec*/, Instant /*input*/, bool ahead) {
  later([this, offer, ahead] {
    const JobId job = offer.home == self_ ? bring_home(offer) : take_in(offer, ahead);
    member_->queued(offer.spec.number, job);
  });
}

JobId FederationDesk::take_in(const Offer& offer, bool ahead) {
  const auto offered = read_offer(offer.request, uses_.desk.loop().unix_start());
  const auto guest = view().trades().guests().find(offer.spec.number);
  const auto caller = offered ? user_here(offered->user, uses_.settings) : std::nullopt;
  if (!caller || guest == view().trades().guests().end()) return {};
  JobRequest request = offered->request;
  request.sites.clear();  // it has come to where it stays
  request.priority = std::min(request.priority, static_cast<std::int32_t>(uses_.settings.most_priority));
  const auto job = uses_.job_desk.submit_guest(*caller, request, guest->second.number, ahead);
  const std::string home = fmt::format("{}:{}", name_of(offer.home), offer.serial);
  if (!job) {
    uses_.desk.log().warn(fmt::format("federation: job {} was won and cannot run here: {}", home, job.error().message));
    return {};
  }
  note_site(*job, "home", home);
  return *job;
}

void FederationDesk::bring(const Offer& offer) {
  later([this, number = offer.spec.number] { member_->arrived(number); });
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

void FederationDesk::take_back(std::int64_t /*job*/, JobId id) {
  if (!id.valid()) return;
  later([this, id] {
    if (view().knows(id) && !view().job(id).gone()) static_cast<void>(uses_.desk.record(Cancelled{id}));
  });
}

void FederationDesk::not_started(const Command& give_way) {
  later([this, job = give_way.job, dispatch = give_way.dispatch] {
    static_cast<void>(uses_.desk.record(Vacated{job, Duration{0}, dispatch}));
  });
}

std::string FederationDesk::report_on(const Trades::Guest& guest) {
  if (guest.offer.home == self_) return "";
  const std::int64_t now = uses_.desk.loop().unix_milliseconds(uses_.desk.now());
  const auto row = uses_.jobs.history_of_number(guest.number);
  if (!row || !*row) return report_text(Outcome::failed, 0, now, now);
  const RealLoop& loop = uses_.desk.loop();
  const std::int64_t end = loop.unix_milliseconds((*row)->end);
  const std::int64_t start = (*row)->start == kNever ? end : loop.unix_milliseconds((*row)->start);
  return report_text(outcome_of((*row)->state), ((*row)->exit_code << 8) | (*row)->signal, start, end);
}

void FederationDesk::job_gone(JobId id, const Job& job) {
  const JobEntry* entry = uses_.book.find(id);
  const std::int32_t status = entry == nullptr ? 0 : entry->status;
  uses_.records.job_gone(id, job);
  const auto& guests = view().trades().guests();
  const auto guest = std::ranges::find_if(guests, [&](const auto& row) { return row.second.id == id; });
  if (guest == guests.end()) return;
  const RealLoop& loop = uses_.desk.loop();
  const Instant end = job.end == kNever ? view().now() : job.end;
  const std::string report =
      guest->second.offer.home == self_
          ? ""
          : report_text(outcome_of(state_word(job)), status,
                        loop.unix_milliseconds(job.start == kNever ? end : job.start), loop.unix_milliseconds(end));
  later([this, id, number = guest->first, report] { member_->job_gone(id, number, report); });
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

std::string FederationDesk::name_of(SiteId site) const {
  const auto& names = exchange_->names();
  return site.valid() && site.value < names.size() ? names[site.value] : fmt::format("number {}", site.value);
}

std::vector<SiteShown> FederationDesk::all_sites() const {
  std::vector<SiteShown> all;
  for (std::uint32_t s = 0; s < exchange_->names().size(); ++s) {
    if (exchange_->names()[s].empty()) continue;
    all.push_back({exchange_->names()[s], SiteId{s} == self_, exchange_->epoch_of(SiteId{s}) != 0,
                   exchange_->offered_by(SiteId{s}), exchange_->settled_by(SiteId{s})});
  }
  return all;
}

}  // namespace rota::serve
