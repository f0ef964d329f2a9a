#include "serve/desk.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "serve/cluster_change.h"
#include "store/fact_codec.h"

namespace rota::serve {

Desk::Desk(boost::asio::io_context& io, std::unique_ptr<store::SqliteStore> store,
           std::shared_ptr<const site::Configuration> file, ServiceLog& log, std::string version)
    : io_(io),
      version_(std::move(version)),
      log_(log),
      store_(std::move(store)),
      loop_(io, store_->head().unix_start),
      journal_(*store_),
      file_(store_->head().cluster == file->text ? FileInUse::as_kept(std::move(file), store_->head().limits)
                                                 : FileInUse::made(std::move(file))),
      machine_(machine_of(file_->configuration)),
      commits_(io) {
  loop_.after_alarms([this] { end_turn(controller_->health()); });
}

Result<void> Desk::decide_by(Chain chain, const std::vector<Fact>& facts) {
  auto old_controller = std::move(controller_);
  auto old_chain = std::exchange(chain_, std::make_unique<Chain>(std::move(chain)));
  controller_ = std::make_unique<Controller>(
      cluster_options(*this), *chain_,
      Ports{loop_, wiring_.gate ? *wiring_.gate : *wiring_.engine, *wiring_.jobs, &durable()},
      Controller::Breach::goes_plain);
  controller_->set_answer_rules(
      {.answer_within = wiring_.engine->capabilities().answers_within, .look_every = seconds(60)});
  Result<void> taken;
  for (const Fact& fact : facts) {
    if (taken) taken = controller_->replay(fact);
  }
  if (!taken) {
    controller_ = std::move(old_controller);
    chain_ = std::move(old_chain);
    return taken;
  }
  if (old_controller) {
    loop_.forget(*old_controller);
    log_.carry_over(*old_controller);
  }
  controller_->add_observer(journal_);
  for (FactObserver* observer : wiring_.observers) controller_->add_observer(*observer);
  return {};
}

Result<void> Desk::compact() {
  TRY(journal_.commit());
  store::JournalHead head = store_->head();
  head.rota = version_;
  head.policy = chain_->text();
  head.processors = machine_->processors;
  head.cluster = file_->configuration->text;
  head.limits = file_->limit_names;
  return store_->compact(
      [&](const FactTaker& take) {
        for (const Fact& fact : controller_->snapshot()) take(store::ref_of(fact));
      },
      head);
}

std::shared_ptr<const FileInUse> Desk::take_file(std::shared_ptr<const FileInUse> file) {
  return std::exchange(file_, std::move(file));
}

void Desk::stands_as(std::shared_ptr<const Machine> machine) {
  const auto before = std::exchange(machine_, std::move(machine));  // for as long as the engine may look at it
  if (!view().options().shared) engine().describe(*machine_);
}

Result<void> Desk::record(const Observed& fact, Instant happened) {
  Observed said = fact;
  if (auto* again = std::get_if<Requeued>(&said); again != nullptr && view().knows(again->job))
    again->limit = next_limit(*this, view().job(again->job));  // the engine need not know
  if (const auto* power = std::get_if<PowerChanged>(&said)) return wiring_.power_changed(*power);
  auto taken = controller_->record(said, happened);
  if (taken && std::holds_alternative<Described>(said))
    stands_as(with_commands(*view().options().machine, file_->configuration->machine));
  if (taken) static_cast<void>(decide());
  return taken;
}

Result<void> Desk::decide() {
  if (deciding_soon_) return health_;
  deciding_soon_ = true;
  boost::asio::post(io_, [this] {
    deciding_soon_ = false;
    end_turn(controller_->decide());
  });
  return health_;
}

void Desk::when_durable(std::function<void(const Result<void>&)> call) {
  waiters_.push_back(std::move(call));
  static_cast<void>(decide());
}

void Desk::end_turn(Result<void> done) {
  const bool waits = done && waiters_.empty() && journal_.open();
  if (done && !waits) done = durable().commit();
  if (!done) fail_for_good(done);
  if (waits) commit_later();
  if (done && !waits) wiring_.durable();
  auto waiters = std::exchange(waiters_, {});
  for (const auto& call : waiters) call(done);
  if (done && !waits) wiring_.answered();
}

void Desk::commit_later() {
  constexpr std::chrono::milliseconds kPatience{20};  // for which news that nothing rests on waits for company
  if (commits_soon_) return;
  commits_soon_ = true;
  commits_.expires_after(kPatience);
  commits_.async_wait([this](const boost::system::error_code& error) {
    commits_soon_ = false;
    if (error || !journal_.open()) return;
    const Result<void>& health = controller_->health();
    end_turn(health ? durable().commit() : health);
  });
}

void Desk::fail_for_good(Result<void> why) {
  if (!health_) return;
  health_ = std::move(why);
  if (wiring_.failed) wiring_.failed();
}

void Desk::stop() {
  stopped_ = true;
  loop_.cancel();
  commits_.cancel();
  if (health_) health_ = store_->commit();
}

std::shared_ptr<const Machine> machine_of(const std::shared_ptr<const site::Configuration>& file) {
  return {file, &file->machine};
}

ClusterOptions cluster_options(const Desk& desk, const Chain& chain, const Machine& machine) {
  ClusterOptions cluster;
  cluster.processors = machine.processors;
  cluster.machine = &machine;
  const Capabilities can = desk.engine().capabilities();
  cluster.confirms_starts = can.confirms_starts;
  cluster.shared = can.shared;
  chain.ask(cluster);
  return cluster;
}

ClusterOptions cluster_options(const Desk& desk) {
  ClusterOptions cluster = cluster_options(desk, desk.chain(), desk.file()->configuration->machine);
  cluster.limits = desk.file()->limits.get();
  return cluster;
}

Result<void> carries_out(const Desk& desk, std::string_view wish) {
  std::string instead = desk.engine().instead_of(wish);
  if (!instead.empty()) return fail(std::move(instead));
  return {};
}

Duration next_limit(const Desk& desk, const Job& job) {
  const PartitionId partition = job.spec.partition;
  const Duration most = partition.valid() ? desk.machine()->partitions[partition.value].max_time : kLongest;
  return std::max(std::min(limit_after(job, desk.now()), most), job.spec.limit);
}

}  // namespace rota::serve
