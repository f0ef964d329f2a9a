#include "serve/upkeep.h"

#include <algorithm>

#include "model/licence_use.h"

namespace rota::serve {

Result<void> Upkeep::compact() {
  auto done = desk_.compact();
  journal_is_read();
  return done;
}

void Upkeep::compact_if_long() {
  constexpr std::uint64_t kFactsBetweenSnapshots = 200'000;
  const std::uint64_t facts = desk_.view().sequence() - compacted_at_;
  if ((facts < kFactsBetweenSnapshots || facts < 4 * book_.size()) && !desk_.store().wants_compaction()) return;
  if (!room_.takes_snapshot()) return;
  if (auto done = compact(); !done) return desk_.end_turn(done);
}

// What was kept for long enough goes, a little at a time: soon again where more of it is left, since a thousand in ten
// minutes are fewer than may come.
void Upkeep::forget_old() {
  if (desk_.view().now() < forgets_at_) return;
  constexpr std::int64_t kAtOnce = 1000;
  const Instant until = desk_.view().now() - std::min(settings_.keep_history, desk_.view().now() - kEpoch);
  const bool more = desk_.store().drop_history(until, kAtOnce) > 0;
  room_.keep_spare();
  forgets_at_ = desk_.view().now() + (more ? seconds(1) : seconds(600));
  desk_.store().drop_keys(desk_.view().now() - std::min(seconds(86'400), desk_.view().now() - kEpoch));
}

void Upkeep::let_go() {
  forget_old();
  for (const std::uint32_t uid : room_.begin_to_let_go()) let_ended_go(uid, {});
}

// What a user's jobs ran, a little at a time; but for those that have just ended, whose output a client may follow.
void Upkeep::let_ended_go(std::uint32_t uid, std::optional<JobId> behind) {
  if (desk_.stopped() || !desk_.health()) return;
  constexpr std::chrono::milliseconds kBetween{50};
  constexpr Duration kFollowed = seconds(600);
  behind = room_.lets_go_some(uid, behind, desk_.view().now() - std::min(kFollowed, desk_.view().now() - kEpoch));
  if (behind) desk_.loop().later([this, uid, behind] { let_ended_go(uid, behind); }, kBetween);
  static_cast<void>(desk_.decide());
}

void Upkeep::watch_licences(boost::asio::io_context& io, const std::string& record) {
  licence_watch_.reset();  // the one before removes its record, which the new one uses
  if (settings_.licence_command.empty()) return count_none_elsewhere();
  licence_watch_ = std::make_unique<LicenceWatch>(io,
                                                  LicenceWatch::Options{.command = settings_.licence_command,
                                                                        .interval = settings_.licence_interval,
                                                                        .timeout = settings_.licence_timeout,
                                                                        .record = record},
                                                  desk_.machine(), [this](const auto& counts) { counted(counts); });
}

Result<void> Upkeep::begin_reports(boost::asio::io_context& io, PeriodicReport::Options options) {
  report_ = TRY(PeriodicReport::begin(io, desk_, std::move(options)));
  return {};
}

void Upkeep::stop() {
  if (licence_watch_) licence_watch_->stop();
  if (report_) report_->stop();
}

// What was counted last, when there was a command, would be withheld for ever.
void Upkeep::count_none_elsewhere() {
  for (std::size_t l = 0; l < desk_.machine()->licences.size(); ++l) {
    const LicenceId licence{static_cast<decltype(LicenceId::value)>(l)};
    if (desk_.view().licences_elsewhere(licence) != 0) static_cast<void>(desk_.record(LicencesCounted{licence, 0}));
  }
}

// What others use goes through the door, where it is another number than before. The processes of a job that was
// stopped to give way are there, and the server does not know that they stand still: counted as others', what they
// checked out would keep their own job from going on.
void Upkeep::counted(const std::vector<LicenceCount>& counts) {
  if (desk_.stopped() || !desk_.health()) return;
  const RunProbe* probe = desk_.engine().run_probe();
  const std::vector<JobId> stopped = probe ? probe->held_stopped() : std::vector<JobId>{};
  for (const LicenceCount& each : counts) {
    const std::int64_t count = desk_.machine()->licences[each.licence.value].count;
    const std::int64_t before = desk_.view().licences_elsewhere(each.licence);
    std::int64_t held = count - before - desk_.view().nodes().licences_free(each.licence);
    for (const JobId job : stopped) {
      if (desk_.view().knows(job)) held += licences_of(desk_.view().job(job).spec, each.licence);
    }
    const std::int64_t elsewhere = used_elsewhere(each, count, held);
    if (elsewhere != before) static_cast<void>(desk_.record(LicencesCounted{each.licence, elsewhere}));
  }
}

}  // namespace rota::serve
