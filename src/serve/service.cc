#include "serve/service.h"

#include <pwd.h>
#include <unistd.h>

#include <fmt/core.h>
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "process/clock.h"
#include "serve/forecaster.h"
#include "serve/kept_clock.h"
#include "serve/policy_check.h"
#include "serve/state_folder.h"
#include "serve/this_host.h"

namespace rota::serve {
namespace {

constexpr std::chrono::milliseconds kPause{1};  // in which others have their turns while many are told something

// What instants count from: when a state is made, so that nothing has been idle for longer.
std::int64_t this_second() { return process::unix_milliseconds() / 1000; }

using File = std::shared_ptr<const site::Configuration>;

Result<File> shared(Result<site::Configuration> read) {
  if (!read) return std::unexpected(read.error());
  return std::make_shared<const site::Configuration>(std::move(*read));
}

}  // namespace

struct Service::State {
  File file;
  std::unique_ptr<store::SqliteStore> store;
};

// Where no configuration is given, the cluster is as it was.
Result<Service::State> Service::find_state(const ServiceOptions& options) {
  TRY(make_folder(options.state_folder));
  const bool given = !options.configuration.empty();
  const std::string here = cluster_of_this_host();
  File file = TRY(shared(given ? site::read_configuration(options.configuration, here)
                               : site::parse_configuration(here, "the description of this computer")));
  store::JournalHead fresh{.rota = options.version,
                           .policy = options.policy.empty() ? file->service.policy : options.policy,
                           .processors = file->machine.processors,
                           .cluster = file->text,
                           .settings = "live",
                           .unix_start = this_second()};
  if (auto known = chain_of(fresh.policy); !known) {
    const std::string where = options.policy.empty() ? shown_path(options.configuration) : std::string("--policy");
    return fail("{}: {}", where, known.error().message);
  }
  StateRoom::use_spare(options.state_folder);
  const std::string path = options.state_folder + "/rota.db";
  TRY(check_not_lost(path, options.state_folder + "/runs"));
  auto store = TRY(store::SqliteStore::open(path, fresh));
  const std::string& before = store->head().cluster;
  const std::string now = given ? with_node_kept(file->text, before) : before;
  if (now == file->text) return State{std::move(file), std::move(store)};
  if (!given && options.say)
    options.say(fmt::format(
        "no --config was given: the configuration kept in {} holds; what was changed in its file since is not read",
        shown_path(path)));
  file = TRY(shared(site::parse_configuration(now, shown_path(given ? options.configuration : path))));
  return State{std::move(file), std::move(store)};
}

Service::Service(boost::asio::io_context& io, ServiceOptions options, State state)
    : io_(io),
      options_(std::move(options)),
      settings_(state.file->service),
      log_(options_.say),
      desk_(io, std::move(state.store), std::move(state.file), log_, options_.version),
      room_(options_.state_folder, desk_.store()),
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
  auto state = TRY(find_state(options));
  std::unique_ptr<Service> service(new Service(io, options, std::move(state)));
  service->look_at_configuration();
  if (options.before_acting) TRY(options.before_acting(service->settings_));
  TRY(service->take_over());
  return service;
}

void Service::look_at_configuration() {
  for (const std::string& name : settings_.operators) {
    if (const passwd* user = ::getpwnam(name.c_str())) {
      operators_.push_back(user->pw_uid);
    } else {
      log_.warn(
          fmt::format("the configuration names the operator {}, whom this computer does not know", rota::quoted(name)));
    }
  }
  if (!desk_.file().machine.reservations.empty())
    log_.warn(
        "the configuration has [[reservations]] that count from second 0 of a log, which a service does not keep: give "
        "`start` and `end` as dates, such as \"2026-12-01T08:00Z\"");
}

std::unexpected<Error> Service::not_taken_over(const std::string& why) const {
  return fail("the state in {} cannot be taken over: {}", shown_path(options_.state_folder), why);
}

void Service::wire() {
  engine_ = options_.engine({io_, desk_.loop(), *this, *desk_.machine(), options_.state_folder + "/runs"});
  desk_.wire({.engine = engine_.get(),
              .jobs = this,
              .observers = {this, &log_},
              .power_changed = [this](const PowerChanged& what) { return power_changed(what); },
              .durable = [this] { all_is_durable(); },
              .answered =
                  [this] {
                    events_.wake();
                    compact_if_long();
                  },
              .failed =
                  [this] {
                    if (failed_) failed_();
                  }});
}

Result<void> Service::take_over() {
  const store::JournalHead& before = desk_.store().head();
  wire();
  const std::string policy = options_.policy.empty() ? before.policy : options_.policy;
  auto chain = TRY(chain_of(policy));
  TRY(desk_.decide_by(std::move(chain)));
  const std::optional<ClusterChange> change = TRY(replay());
  TRY(desk_.controller().engine_can());  // before anything is written down
  TRY(set_clock(desk_.loop(), desk_.store(), desk_.view().now(), !desk_.view().running().empty()));
  TRY(read_book());
  if (policy != before.policy) TRY(starts_no_job_over(desk_.chain(), book_, desk_.view()));
  TRY(read_wishes());
  const std::uint64_t decided = desk_.view().sequence();
  open_mail();
  TRY(engine_->open(desk_, {decided, decided, [this]() -> const View& { return desk_.view(); }}));
  for (const std::string& lacking : engine_->warnings()) log_.warn(lacking);
  // Under another policy or description than what is recorded was decided: the journal begins anew with the state.
  if (policy != before.policy || change) {
    if (policy != before.policy || change->less) desk_.controller().withdraw_promises();
    TRY(compact());
  }
  compacted_at_ = desk_.view().sequence();
  TRY(keep_reservations());
  auto resumed = desk_.controller().resume();
  if (resumed) resumed = suspend_as_before();
  if (resumed) resumed = desk_.controller().decide();
  for (const Observation::JobSeen& seen : engine_->observe().jobs) {
    if (!desk_.view().knows(seen.job)) left_.push_back(seen.job);  // nothing may remain of it
  }
  desk_.end_turn(resumed);
  if (resumed) watch_licences();
  return resumed;
}

// Names of the jobs that are known.
Result<void> Service::read_book() {
  std::vector<JobId> known;
  desk_.view().for_each_job([&](JobId id, const Job&) { known.push_back(id); });
  AboutReader reader;
  return desk_.store().abouts(known, [&](JobId id, std::string_view text) -> Result<void> {
    auto kept = TRY(reader.read(text));
    JobEntry entry{std::move(kept.about), desk_.view().job(id).spec.number, kept.index};
    note_terms(desk_.view(), id, entry);
    if (const JobTerms* terms = desk_.view().eligibility().terms(id))
      entry.awaits = static_cast<std::uint32_t>(terms->after.size());
    book_.put(id, std::move(entry));
    return {};
  });
}

// What is known of jobs that is no fact. What was kept of jobs that have left meanwhile is removed.
Result<void> Service::read_of_jobs(const char* what, const std::function<bool(JobId, JobEntry&, std::string&)>& take) {
  auto all = TRY(desk_.store().settings(what));
  for (auto& [name, text] : all) {
    const auto number = parse_integer(name);
    const JobId job =
        number && *number >= 0 && *number < UINT32_MAX ? JobId{static_cast<std::uint32_t>(*number)} : JobId{};
    JobEntry* entry = job.valid() ? book_.find(job) : nullptr;
    if (entry == nullptr || !take(job, *entry, text)) desk_.store().put_setting(what + name, "");
  }
  return {};
}

// What people want that is no fact: reasons of nodes; and what was said of jobs.
Result<void> Service::read_wishes() {
  for (std::uint32_t n = 0; n < desk_.machine()->nodes.size(); ++n) {
    for (const auto& [what, texts] : {std::pair{kNodeReason, &node_reasons_}, std::pair{kNodeBy, &node_by_}}) {
      const auto text = desk_.store().setting(what + desk_.machine()->nodes[n].name);
      const bool used = desk_.view().power().health(NodeId{n}) == Health::up;  // it had gone, and is back
      if (text && *text && !(*text)->empty() && !used) (*texts)[NodeId{n}] = **text;
    }
  }
  TRY(read_of_jobs(kMessage, [](JobId, JobEntry& entry, std::string& text) {
    entry.hear().message = std::move(text);
    return true;
  }));
  TRY(read_of_jobs(kReleased, [](JobId, JobEntry& entry, const std::string& at) {
    entry.hear().released = Instant{Duration{parse_integer(at).value_or(0)}};
    entry.not_before = std::max(entry.not_before, entry.heard().released);
    return true;
  }));
  TRY(read_of_jobs(kRanOn, [](JobId, JobEntry& entry, std::string& nodes) {
    entry.hear().nodes = std::move(nodes);
    return entry.kept_where = true;
  }));
  TRY(read_of_jobs(kGrace, [](JobId, JobEntry& entry, const std::string& text) {
    entry.hear().grace = read_grace(text);
    return !text.empty();
  }));
  return read_reservations();
}

Result<void> Service::compact() {
  auto done = desk_.compact();
  compacted_at_ = desk_.view().sequence();
  return done;
}

void Service::all_is_durable() {
  if (!letters_.empty()) send_letters();
  for (const Ended& ended : ended_) engine_->settled(ended.job, ended.dispatch);
  ended_.clear();
  for (const JobId job : left_) engine_->settled(job, kAnyDispatch);  // nothing may remain of it
  left_.clear();
  let_go();
}

Result<void> Service::set_policy(const std::string& text) {
  auto chain = TRY(chain_that_suits(text, desk_, book_));
  const std::string before = desk_.chain().text();
  planned_starts_.forget();
  TRY(desk_.decide_by(std::move(chain), desk_.controller().snapshot()));
  if (text != before) desk_.controller().withdraw_promises();
  if (auto compacted = compact(); !compacted) {
    desk_.fail_for_good(compacted);
    return compacted;
  }
  desk_.controller().leave_plain_mode();  // an operator has looked
  auto resumed = desk_.controller().resume();
  desk_.end_turn(resumed);
  return resumed;
}

Result<QueueToRehearse> Service::queue_to_rehearse(const std::string& text) const {
  constexpr std::size_t kMostRehearsed = 20'000;
  const auto chain = TRY(chain_that_suits(text, desk_, book_));
  if (book_.size() > kMostRehearsed)
    return fail(
        "there are more than {} jobs, too many to rehearse them here; `rota simulate {} --policy` rehearses what this "
        "service has run.",
        grouped(kMostRehearsed), shown_path(options_.state_folder));
  return QueueToRehearse{desk_.now(), desk_.controller().snapshot(), desk_.machine(), desk_.chain().text(),
                         chain.text()};
}

void Service::stop() {
  desk_.stop();
  if (licence_watch_) licence_watch_->stop();
  if (mail_) mail_->stop();
  tells_on_.cancel();
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
  desk_.store().put_setting(what + std::to_string(job.value), text);
}

bool Service::operates(std::uint32_t uid) const {
  return uid == 0 || uid == ::geteuid() || std::ranges::find(operators_, uid) != operators_.end();
}

}  // namespace rota::serve
