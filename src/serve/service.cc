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
#include "serve/kept_clock.h"
#include "serve/policy_check.h"
#include "serve/state_folder.h"
#include "serve/this_host.h"

namespace rota::serve {
namespace {

// What instants count from: when a state is made, so that nothing has been idle for longer.
std::int64_t this_second() { return process::unix_milliseconds() / 1000; }

using File = std::shared_ptr<const site::Configuration>;

Result<File> shared(Result<site::Configuration> read) {
  if (!read) return std::unexpected(read.error());
  return std::make_shared<const site::Configuration>(std::move(*read));
}

// A state says for good what kind of cluster it is of.
std::string settings_of(const ServiceOptions& options) {
  return options.watched.system.empty() ? "live" : "live beside " + options.watched.system;
}

}  // namespace

struct Service::State {
  File file;
  std::unique_ptr<store::SqliteStore> store;
};

// Where no configuration is given, the cluster is as it was.
Result<Service::State> Service::find_state(const ServiceOptions& options) {
  TRY(make_folder(options.state_folder));
  const bool watches = !options.watched.description.empty();
  const bool in_file = !options.configuration.empty();
  const bool given = in_file || watches;
  const std::string here = watches ? options.watched.description : cluster_of_this_host();
  File file = TRY(shared(in_file ? site::read_configuration(options.configuration, here)
                                 : site::parse_configuration(here, watches ? "the description of this cluster"
                                                                           : "the description of this computer")));
  store::JournalHead fresh{.rota = options.version,
                           .policy = options.policy.empty() ? file->service.policy : options.policy,
                           .processors = file->machine.processors,
                           .cluster = file->text,
                           .settings = settings_of(options),
                           .unix_start = this_second() - options.watched.before / seconds(1)};
  if (auto known = chain_of(fresh.policy); !known) {
    const std::string where = options.policy.empty() ? shown_path(options.configuration) : std::string("--policy");
    return fail("{}: {}", where, known.error().message);
  }
  StateRoom::use_spare(options.state_folder);
  const std::string path = options.state_folder + "/rota.db";
  TRY(check_not_lost(path, options.state_folder + "/runs"));
  auto store = TRY(store::SqliteStore::open(path, fresh));
  if (store->head().settings != fresh.settings)
    return fail(
        "{} is the state of a service that {}; name another folder with `--state`, or say `--engine` as then.",
        shown_path(path),
        store->head().settings == "live" ? "runs jobs on its own cluster" : "watches another manager's cluster");
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

Service::Service(boost::asio::io_context& io, const ServiceOptions& options, State state)
    : io_(io),
      options_(options),
      configured_{state.file->service, {}},
      log_(options.say),
      desk_(io, std::move(state.store), std::move(state.file), log_, options.version),
      jobs_(desk_, book_),
      room_(options.state_folder, desk_.store(), book_),
      mail_(desk_, jobs_, configured_.settings.mail_command, options.state_folder + "/mail"),
      records_(desk_, book_, jobs_,
               [this](const store::HistoryRow& row, const JobEntry* entry) {
                 if (entry != nullptr) mail_.job_leaves(row, *entry->about);
                 if (!configured_.operators.include(row.uid)) room_.ended(row.uid);
               }),
      nodes_(desk_, records_),
      reservations_(desk_),
      accelerators_(io, desk_, book_),
      runs_({desk_, jobs_, records_, nodes_, room_, configured_.operators}, options.socket,
            configured_.settings.slurm_variables),
      upkeep_(desk_, book_, room_, configured_.settings),
      answers_({desk_, jobs_, nodes_, reservations_, upkeep_, federation_}),
      job_desk_({desk_, book_, jobs_, room_, answers_.reasons(), answers_.explainer(), configured_.settings,
                 federation_, nodes_, reservations_, answers_.forecaster()}) {
  events_.set_later([this](std::function<void()> call) {
    constexpr std::chrono::milliseconds kPause{1};  // in which others have their turns while many receive something
    desk_.loop().later(std::move(call), kPause);
  });
}

// Commands under way are found again by the next one that opens this state.
Service::~Service() { federation_.reset(); }  // which looks at all others

Result<std::unique_ptr<Service>> Service::open(boost::asio::io_context& io, const ServiceOptions& options) {
  auto state = TRY(find_state(options));
  std::unique_ptr<Service> service(new Service(io, options, std::move(state)));
  service->look_at_configuration();
  if (options.before_acting) TRY(options.before_acting(service->configured_.settings));
  TRY(service->take_over());
  return service;
}

void Service::look_at_configuration() {
  for (const std::string& name : configured_.settings.operators) {
    if (const passwd* user = ::getpwnam(name.c_str())) {
      configured_.operators.named.push_back(user->pw_uid);
    } else {
      log_.warn(
          fmt::format("the configuration names the operator {}, whom this computer does not know", rota::quoted(name)));
    }
  }
  for (const std::string& user : desk_.file()->unknown)
    log_.warn(fmt::format("[[limits]] name the user {}, whom this computer does not know: `rota reload` looks again",
                          rota::quoted(user)));
  if (!desk_.file()->configuration->machine.reservations.empty())
    log_.warn(
        "the configuration has [[reservations]] that count from second 0 of a log, which a service does not keep: give "
        "`start` and `end` as dates, such as \"2026-12-01T08:00Z\"");
}

std::unexpected<Error> Service::not_taken_over(const std::string& why) const {
  return fail("the state in {} cannot be taken over: {}", shown_path(options_.state_folder), why);
}

Result<void> Service::wire(const Chain& chain) {
  engine_ = options_.engine({io_, desk_.loop(), runs_, *desk_.machine(), options_.state_folder + "/runs",
                             job_desk_.watched(), configured_.settings, [this](std::int64_t unix_milliseconds) {
                               return desk_.loop().instant_of(unix_milliseconds);
                             }});
  std::vector<FactObserver*> observers{&records_, &room_, &nodes_, &accelerators_, &mail_, &events_, &log_};
  if (configured_.settings.federation.joins()) {
    federation_ = TRY(FederationDesk::open(
        {io_, desk_, book_, jobs_, records_, job_desk_, configured_.settings.federation}, *engine_, chain));
    observers.push_back(&federation_->observer());
  }
  desk_.wire({.engine = engine_.get(),
              .gate = federation_ ? &federation_->gate() : nullptr,
              .outbox = federation_ ? &federation_->outbox() : nullptr,
              .jobs = federation_ ? static_cast<JobSink*>(federation_.get()) : &records_,
              .observers = std::move(observers),
              .power_changed = [this](const PowerChanged& what) { return nodes_.power_changed(what); },
              .durable =
                  [this] {
                    mail_.send();
                    records_.settle();
                    upkeep_.let_go();
                  },
              .answered =
                  [this] {
                    events_.wake();
                    if (federation_) federation_->follow_load();
                    upkeep_.compact_if_long();
                  },
              .failed =
                  [this] {
                    if (options_.failed) options_.failed();
                  }});
  return {};
}

Result<void> Service::take_over() {
  const store::JournalHead& before = desk_.store().head();
  const std::string policy = options_.policy.empty() ? before.policy : options_.policy;
  auto chain = TRY(chain_of(policy));
  TRY(wire(chain));
  TRY(desk_.decide_by(std::move(chain)));
  const std::optional<ClusterChange> change = TRY(replay());
  TRY(desk_.controller().engine_can());  // before anything is written down
  TRY(set_clock(desk_.loop(), desk_.store(), desk_.view().now(), !desk_.view().running().empty()));
  TRY(records_.read());
  if (policy != before.policy) TRY(starts_no_job_over(desk_.chain(), book_, desk_.view()));
  nodes_.read();
  TRY(reservations_.read());
  job_desk_.watched().shadow().read();
  const std::uint64_t decided = desk_.view().sequence();
  mail_.open(io_);
  TRY(begin_reports());
  TRY(engine_->open(desk_, {decided, decided, [this]() -> const View& { return desk_.view(); }}));
  for (const std::string& lacking : engine_->warnings()) log_.warn(lacking);
  // Under another policy or description than what is recorded was decided: the journal begins anew with the state.
  const bool other_limits = desk_.file()->limit_names != before.limits;
  if (policy != before.policy || change || other_limits) {
    desk_.controller().under_other_rules(policy != before.policy || (change && change->less));
    TRY(upkeep_.compact());
  }
  upkeep_.journal_is_read();
  TRY(reservations_.keep_the_files());
  if (federation_) federation_->take_over();
  auto resumed = desk_.controller().resume();
  if (resumed) resumed = records_.suspend_as_before();
  if (resumed) resumed = desk_.controller().decide();
  for (const Observation::JobSeen& seen : engine_->observe().jobs) {
    if (!desk_.view().knows(seen.job)) records_.let_nothing_remain_of(seen.job);
  }
  desk_.end_turn(resumed);
  if (resumed) watch_licences();
  if (resumed) accelerators_.open();
  if (resumed && federation_) federation_->begin();
  return resumed;
}

Result<void> Service::begin_reports() {
  const site::SlurmReading& how = configured_.settings.slurm;
  if (options_.watched.report.empty() || how.report.empty()) return {};
  std::function<void(Mail)> mails;
  if (mail_.sends()) mails = [this](Mail mail) { mail_.send(std::move(mail)); };
  constexpr Duration kDay = seconds(86'400);
  // A day at least: in less there may be no job that a rehearsal counts.
  const std::int64_t days = std::max<std::int64_t>((how.report_every + kDay - Duration{1}) / kDay, 1);
  return upkeep_.begin_reports(io_, {.command = fmt::format("{} {}d", options_.watched.report, days),
                                     .to = how.report,
                                     .every = how.report_every,
                                     .record = options_.state_folder + "/report",
                                     .mails = std::move(mails)});
}

Capabilities Service::capabilities() const {
  return federation_ ? federation_->gate().capabilities() : engine_->capabilities();
}

Result<void> Service::set_policy(const std::string& text) {
  auto chain = TRY(chain_that_suits(text, desk_, book_, capabilities()));
  const std::string before = desk_.chain().text();
  answers_.forget();
  TRY(desk_.decide_by(std::move(chain), desk_.controller().snapshot()));
  desk_.controller().under_other_rules(text != before);
  if (auto compacted = upkeep_.compact(); !compacted) {
    desk_.end_turn(compacted);
    return compacted;
  }
  desk_.controller().leave_plain_mode();  // an operator has looked
  auto resumed = desk_.controller().resume();
  desk_.end_turn(resumed);
  return resumed;
}

Result<QueueToRehearse> Service::queue_to_rehearse(const std::string& text) const {
  constexpr std::size_t kMostRehearsed = 20'000;
  const auto chain = TRY(chain_that_suits(text, desk_, book_, capabilities()));
  if (book_.size() > kMostRehearsed)
    return fail(
        "there are more than {} jobs, too many to rehearse them here; `rota simulate {} --policy` rehearses what this "
        "service has run.",
        grouped(kMostRehearsed), shown_path(options_.state_folder));
  return QueueToRehearse{desk_.now(),          desk_.controller().snapshot(),
                         desk_.machine(),      limits_of(desk_.file()),
                         desk_.chain().text(), chain.text()};
}

void Service::stop() {
  if (federation_) federation_->stop();
  desk_.stop();
  upkeep_.stop();
  accelerators_.stop();
  mail_.stop();
}

}  // namespace rota::serve
