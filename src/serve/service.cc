#include "serve/service.h"

#include <pwd.h>
#include <unistd.h>

#include <fmt/core.h>
#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "control/journal.h"
#include "process/clock.h"
#include "serve/forecaster.h"
#include "serve/kept_clock.h"
#include "serve/state_folder.h"
#include "serve/this_host.h"
#include "store/fact_codec.h"

namespace rota::serve {
namespace {

constexpr std::chrono::milliseconds kPatience{20};  // for which news that nothing rests on waits for company
constexpr std::chrono::milliseconds kPause{1};      // in which others have their turns while many are told something
constexpr std::size_t kMostWarnings = 100;

// What instants count from: when a state is made, so that nothing has been idle for longer.
std::int64_t this_second() { return process::unix_milliseconds() / 1000; }

}  // namespace

// What no command and no answer rests on need not be synced by itself: should it be lost, the engine tells it again.
class Service::PatientJournal final : public Journal {
 public:
  using Journal::Journal;

  Result<void> commit() override {
    open_ = false;
    return Journal::commit();
  }
  Result<void> commit_soon() override {
    open_ = true;
    return {};
  }
  bool open() const { return open_; }  // something was put off

 private:
  bool open_ = false;
};

Service::Service(boost::asio::io_context& io, ServiceOptions options)
    : io_(io),
      options_(std::move(options)),
      commits_(io),
      tells_on_(io),
      forecaster_(std::make_unique<Forecaster>(*this)) {
  events_.set_later([this](std::function<void()> call) {
    tells_on_.expires_after(kPause);
    tells_on_.async_wait([call = std::move(call)](const boost::system::error_code& error) {
      if (!error) call();
    });
  });
}

// Commands under way are found again by the next one that opens this state.
Service::~Service() = default;

Result<std::unique_ptr<Service>> Service::open(boost::asio::io_context& io, const ServiceOptions& options) {
  std::unique_ptr<Service> service(new Service(io, options));
  TRY(service->prepare());
  return service;
}

Result<void> Service::prepare() {
  process_ = ::getpid();
  if (auto made = make_folder(options_.state_folder); !made) return made;
  if (auto read = read_configuration(); !read) return read;
  if (auto opened = open_store(); !opened) return opened;
  for (const std::string& name : settings_.operators) {
    if (const passwd* user = ::getpwnam(name.c_str())) {
      operators_.push_back(user->pw_uid);
    } else {
      warnings_.push_back(
          fmt::format("the configuration names the operator {}, whom this computer does not know", rota::quoted(name)));
    }
  }
  if (!machine_->reservations.empty())
    warnings_.emplace_back(
        "the configuration has [[reservations]] that count from second 0 of a log, which a service does not keep: give "
        "`start` and `end` as dates, such as \"2026-12-01T08:00Z\"");
  if (options_.before_acting) {
    if (auto ready = options_.before_acting(settings_); !ready) return ready;
  }
  return take_over();
}

Result<void> Service::read_configuration() {
  if (options_.configuration.empty()) return {};
  return take(site::read_configuration(options_.configuration, cluster_of_this_host()));
}

Result<void> Service::describe(const std::string& text, const std::string& shown) {
  return take(site::parse_configuration(text, shown));
}

Result<void> Service::take(Result<site::Configuration> read) {
  if (!read) return std::unexpected(read.error());
  settings_ = std::move(read->service);
  dated_reservations_ = std::move(read->reservations);
  cluster_text_ = std::move(read->text);
  machine_ = file_ = std::make_shared<const Machine>(std::move(read->machine));
  return {};
}

// The database of this state; where no configuration is given, the cluster is as it was.
Result<void> Service::open_store() {
  const bool given = machine_ != nullptr;
  if (!given) {
    if (auto here = describe(cluster_of_this_host(), "the description of this computer"); !here) return here;
  }
  store::JournalHead fresh{.rota = options_.version,
                           .policy = options_.policy.empty() ? settings_.policy : options_.policy,
                           .processors = machine_->processors,
                           .cluster = cluster_text_,
                           .settings = "live",
                           .unix_start = this_second()};
  if (auto known = chain_of(fresh.policy); !known) {
    const std::string where = options_.policy.empty() ? shown_path(options_.configuration) : std::string("--policy");
    return fail("{}: {}", where, known.error().message);
  }
  StateRoom::use_spare(options_.state_folder);
  const std::string path = options_.state_folder + "/rota.db";
  if (auto there = check_not_lost(path, options_.state_folder + "/runs"); !there) return there;
  store_ = TRY(store::SqliteStore::open(path, fresh));
  room_ = std::make_unique<StateRoom>(options_.state_folder, *store_);
  const std::string& before = store_->head().cluster;
  const std::string now = given ? with_node_kept(cluster_text_, before) : before;
  if (now == cluster_text_) return {};
  if (given) return describe(now, shown_path(options_.configuration));
  if (options_.say)
    options_.say(fmt::format(
        "no --config was given: the configuration kept in {} holds; what was changed in its file since is not read",
        shown_path(path)));
  return describe(now, shown_path(path));
}

store::JournalHead Service::head() const {
  store::JournalHead head = store_->head();
  head.rota = options_.version;
  head.policy = chain_->text();
  head.processors = machine_->processors;
  head.cluster = cluster_text_;
  return head;
}

ClusterOptions Service::cluster_options(const Machine& machine) const {
  ClusterOptions cluster;
  cluster.processors = machine.processors;
  cluster.machine = &machine;
  const Capabilities can = engine_->capabilities();
  cluster.confirms_starts = can.confirms_starts;
  cluster.shared = can.shared;
  chain_->ask(cluster);
  return cluster;
}

// A controller under this policy, without a state.
Result<void> Service::start_deciding(const std::string& policy) {
  auto chain = TRY(chain_of(policy));
  chain_ = std::make_unique<Chain>(std::move(chain));
  planned_starts_.forget();
  controller_ = std::make_unique<Controller>(cluster_options(), *chain_, Ports{*loop_, *engine_, *this, journal_.get()},
                                             Controller::Breach::goes_plain);
  controller_->set_answer_rules({.answer_within = engine_->capabilities().answers_within, .look_every = seconds(60)});
  return {};
}

std::unexpected<Error> Service::not_taken_over(const std::string& why) const {
  return fail("the state in {} cannot be taken over: {}", shown_path(options_.state_folder), why);
}

Result<void> Service::take_over() {
  const store::JournalHead& before = store_->head();
  loop_ = std::make_unique<RealLoop>(io_, before.unix_start);
  loop_->after_alarms([this] { after_turn(controller_->health()); });
  journal_ = std::make_unique<PatientJournal>(*store_);
  engine_ = options_.engine({io_, *loop_, *this, *machine_, options_.state_folder + "/runs"});
  const std::string policy = options_.policy.empty() ? before.policy : options_.policy;
  if (auto ready = start_deciding(policy); !ready) return ready;
  const std::optional<ClusterChange> change = TRY(replay());
  if (auto can = controller_->engine_can(); !can) return can;  // before anything is written down
  if (auto set = set_clock(*loop_, *store_, view().now(), !view().running().empty()); !set) return set;
  if (auto read = read_book(); !read) return read;
  if (policy != before.policy) {
    if (auto spares = starts_nobody_over(*chain_); !spares) return spares;
  }
  if (auto read = read_wishes(); !read) return read;
  const std::uint64_t decided = view().sequence();
  open_mail();
  observe_facts();  // the engine may record some while it opens
  TRY(engine_->open(*this, {decided, decided, [this]() -> const View& { return view(); }}));
  for (const std::string& lacking : engine_->warnings()) warnings_.push_back(lacking);
  // Under another policy or description than what is recorded was decided: the journal begins anew with the state.
  if (policy != before.policy || change) {
    if (policy != before.policy || change->less) controller_->withdraw_promises();
    if (auto compacted = compact(); !compacted) return compacted;
  }
  compacted_at_ = view().sequence();
  if (auto kept = keep_reservations(); !kept) return kept;
  auto resumed = controller_->resume();
  if (resumed) resumed = suspend_as_before();
  if (resumed) resumed = controller_->decide();
  for (const Observation::JobSeen& seen : engine_->observe().jobs) {
    if (!view().knows(seen.job)) left_.push_back(seen.job);  // nothing may remain of it
  }
  after_turn(resumed);
  if (resumed) watch_licences();
  return resumed;
}

void Service::observe_facts() {
  controller_->add_observer(*journal_);
  controller_->add_observer(*this);
}

// Names of the jobs that are known.
Result<void> Service::read_book() {
  std::vector<JobId> known;
  view().for_each_job([&](JobId id, const Job&) { known.push_back(id); });
  AboutReader reader;
  return store_->abouts(known, [&](JobId id, std::string_view text) -> Result<void> {
    auto kept = TRY(reader.read(text));
    JobEntry entry{std::move(kept.about), view().job(id).spec.number, kept.index};
    note_terms(view(), id, entry);
    if (const JobTerms* terms = view().eligibility().terms(id))
      entry.awaits = static_cast<std::uint32_t>(terms->after.size());
    book_.put(id, std::move(entry));
    return {};
  });
}

// What is known of jobs that is no fact. What was kept of jobs that have left meanwhile is removed.
Result<void> Service::read_of_jobs(const char* what, const std::function<bool(JobId, JobEntry&, std::string&)>& take) {
  auto all = TRY(store_->settings(what));
  for (auto& [name, text] : all) {
    const auto number = parse_integer(name);
    const JobId job =
        number && *number >= 0 && *number < UINT32_MAX ? JobId{static_cast<std::uint32_t>(*number)} : JobId{};
    JobEntry* entry = job.valid() ? book_.find(job) : nullptr;
    if (entry == nullptr || !take(job, *entry, text)) store_->put_setting(what + name, "");
  }
  return {};
}

// What people want that is no fact: reasons of nodes; and what was said of jobs.
Result<void> Service::read_wishes() {
  for (std::uint32_t n = 0; n < machine_->nodes.size(); ++n) {
    for (const auto& [what, texts] : {std::pair{kNodeReason, &node_reasons_}, std::pair{kNodeBy, &node_by_}}) {
      const auto text = store_->setting(what + machine_->nodes[n].name);
      const bool used = view().power().health(NodeId{n}) == Health::up;  // it had gone, and is back
      if (text && *text && !(*text)->empty() && !used) (*texts)[NodeId{n}] = **text;
    }
  }
  auto read = read_of_jobs(kMessage, [](JobId, JobEntry& entry, std::string& text) {
    entry.hear().message = std::move(text);
    return true;
  });
  if (!read) return read;
  read = read_of_jobs(kReleased, [](JobId, JobEntry& entry, const std::string& at) {
    entry.hear().released = Instant{Duration{parse_integer(at).value_or(0)}};
    entry.not_before = std::max(entry.not_before, entry.heard().released);
    return true;
  });
  if (!read) return read;
  read = read_of_jobs(kRanOn, [](JobId, JobEntry& entry, std::string& nodes) {
    entry.hear().nodes = std::move(nodes);
    return entry.kept_where = true;
  });
  if (!read) return read;
  read = read_of_jobs(kGrace, [](JobId, JobEntry& entry, const std::string& text) {
    entry.hear().grace = read_grace(text);
    return !text.empty();
  });
  return read ? read_reservations() : read;
}

Result<void> Service::compact() {
  if (auto done = journal_->commit(); !done) return done;
  auto done = store_->compact(
      [&](const FactTaker& take) {
        for (const Fact& fact : controller_->snapshot()) take(store::ref_of(fact));
      },
      head());
  compacted_at_ = view().sequence();
  return done;
}

// ---- turns of the event loop

Result<void> Service::record(const Observed& fact, Instant happened) {
  Observed said = fact;
  if (auto* again = std::get_if<Requeued>(&said); again != nullptr && view().knows(again->job))
    again->limit = next_limit(view().job(again->job));  // the engine need not know
  if (const auto* power = std::get_if<PowerChanged>(&said)) return power_changed(*power);
  auto taken = controller_->record(said, happened);
  if (taken && std::holds_alternative<Described>(said)) stands_as(with_commands(*view().options().machine, *file_), {});
  if (taken) static_cast<void>(decide());
  return taken;
}

// At the end of this turn, for all that was said in it.
Result<void> Service::decide() {
  if (deciding_soon_) return health_;
  deciding_soon_ = true;
  boost::asio::post(io_, [this] {
    deciding_soon_ = false;
    after_turn(controller_->decide());
  });
  return health_;
}

void Service::when_durable(std::function<void(const Result<void>&)> call) {
  waiters_.push_back(std::move(call));
  static_cast<void>(decide());
}

// Also what was told in this turn and has yet to be decided about.
bool Service::uncommitted() const { return deciding_soon_ || journal_->open(); }

// What was decided is durable now, with all that led to it; or the service cannot go on.
void Service::after_turn(Result<void> done) {
  const bool waits = done && waiters_.empty() && journal_->open();
  if (done && !waits) done = journal_->commit();
  if (!done) fail_for_good(done);
  if (done && !waits) {
    if (!letters_.empty()) send_letters();
    for (const Ended& ended : ended_) engine_->settled(ended.job, ended.dispatch);
    ended_.clear();
    for (const JobId job : left_) engine_->settled(job, kAnyDispatch);  // nothing may remain of it
    left_.clear();
  }
  if (waits) commit_later();
  if (done && !waits) let_go();
  auto waiters = std::exchange(waiters_, {});
  for (const auto& call : waiters) call(done);
  if (done && !waits) events_.wake();
  if (done && !waits) compact_if_long();
}

void Service::commit_later() {
  if (commits_soon_) return;
  commits_soon_ = true;
  commits_.expires_after(kPatience);
  commits_.async_wait([this](const boost::system::error_code& error) {
    commits_soon_ = false;
    if (error || !journal_->open()) return;
    const Result<void>& health = controller_->health();
    after_turn(health ? journal_->commit() : health);
  });
}

void Service::fail_for_good(Result<void> why) {
  if (!health_) return;
  health_ = std::move(why);
  if (failed_) failed_();
}

void Service::stop() {
  stopped_ = true;
  loop_->cancel();
  commits_.cancel();
  if (licence_watch_) licence_watch_->stop();
  if (mail_) mail_->stop();
  tells_on_.cancel();
  if (health_) health_ = store_->commit();
}

// ---- what the controller tells

void Service::refused(const View& /*view*/, const Error& why) {
  if (asked_) return void(++refused_requests_);  // the caller is told
  last_refusal_ = why.message;
  warnings_.push_back(why.message);
  if (warnings_.size() > kMostWarnings) warnings_.erase(warnings_.begin());
}

void Service::note_of_job(JobId job, std::string sentence) {
  constexpr std::size_t kMostToldOfJob = 600;  // with what StateRoom sets aside for its row of the history
  sentence = without_middle(std::move(sentence), kMostToldOfJob);
  JobEntry* entry = book_.find(job);
  if (entry == nullptr) return;
  keep(kMessage, job, sentence);
  entry->hear().message = std::move(sentence);
}

void Service::keep(const char* what, JobId job, const std::string& text) {
  store_->put_setting(what + std::to_string(job.value), text);
}

bool Service::operates(std::uint32_t uid) const {
  return uid == 0 || uid == ::geteuid() || std::ranges::find(operators_, uid) != operators_.end();
}

}  // namespace rota::serve
