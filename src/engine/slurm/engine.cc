#include "engine/slurm/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "engine/slurm/site_rows.h"

namespace rota::slurm {
namespace {

constexpr Duration kMinJobAge = seconds(300);  // Slurm's default: so long it knows a job that has ended
constexpr std::size_t kMostMissing = 500;      // of which sacct is asked at once

struct Instead {
  std::string_view wish, command;
};
constexpr std::array kInstead{Instead{"submit", "`sbatch`"},
                              Instead{"cancel", "`scancel`"},
                              Instead{"hold", "`scontrol hold`"},
                              Instead{"release", "`scontrol release`"},
                              Instead{"suspend", "`scontrol suspend`"},
                              Instead{"resume", "`scontrol resume`"},
                              Instead{"requeue", "`scontrol requeue`"},
                              Instead{"signal", "`scancel --signal`"},
                              Instead{"update", "`scontrol update`"},
                              Instead{"nodes", "`scontrol update NodeName=`"},
                              Instead{"reservations", "`scontrol create reservation`"}};

}  // namespace

SlurmEngine::SlurmEngine(const Site& site, SlurmOptions options)
    : site_(site),
      options_(std::move(options)),
      reader_(site.io, site.loop, options_.gap),
      writer_({site.io, site.loop, site.jobs, [this]() -> const Machine& { return mirror_->machine(); }},
              options_.writer) {}

SlurmEngine::~SlurmEngine() { site_.loop.set(*this, kNever); }

Capabilities SlurmEngine::capabilities() const {
  Capabilities can;
  can.suspend = can.checkpoint = can.requeue = can.cancel = can.extend = can.power = can.move = can.tasks = can.sites =
      false;
  can.submits = false;
  can.shared = true;
  can.confirms_starts = true;
  can.remembers = kMinJobAge;
  can.answers_within = seconds(60);
  can.why_no_power = "Rota only watches this cluster, which Slurm runs.";
  return can;
}

std::string SlurmEngine::instead_of(std::string_view wish) const {
  const auto found = std::ranges::find(kInstead, wish, &Instead::wish);
  return fmt::format("Rota only watches this cluster, which Slurm runs; use {}.",
                     found == kInstead.end() ? std::string_view("Slurm's own commands") : found->command);
}

Result<void> SlurmEngine::open(Intake& intake, const Takeover& from) {
  intake_ = &intake;
  mirror_.emplace(Mirror::Uses{intake, site_.jobs, from.state, site_.instant_of});
  wants_history_ = from.state().surveyed() == kEpoch && !options_.history.empty();
  TRY(writer_.open());
  opened_ = site_.loop.now();
  site_.loop.set(*this, opened_);
  return {};
}

// What a job that is not ours is told is for Slurm to do.
void SlurmEngine::dispatch(const Command& /*command*/) {}

Result<void> SlurmEngine::signal(JobId /*job*/, int /*number*/) { return fail(instead_of("signal")); }

std::vector<std::string> SlurmEngine::warnings() const {
  return options_.warning.empty() ? std::vector<std::string>{} : std::vector{options_.warning};
}

Result<void> SlurmEngine::health() const {
  const Duration silent = site_.loop.now() - std::max(answered_, opened_);
  if (failure_.empty() && silent <= 3 * options_.poll + seconds(60)) {
    if (std::string trouble = writer_.trouble(); !trouble.empty()) return fail(std::move(trouble));
    return {};
  }
  return fail("Slurm has not been read for {}{}. What is shown is older than that; it is tried again every {}.",
              format_duration(Duration{silent.count() / 1000 * 1000}), failure_.empty() ? "" : ": " + failure_,
              format_duration(options_.poll));
}

std::optional<Readings> SlurmEngine::readings() const {
  Readings readings = readings_;
  readings.calls = reader_.calls();
  if (mirror_) readings.refused = mirror_->refused();
  return readings;
}

void SlurmEngine::ring() {
  if (wants_history_) return ask_history();
  if (past_) return take_past();
  ask_nodes();
}

void SlurmEngine::ask_history() {
  wants_history_ = false;
  const std::string mark = drawn_mark();
  reader_.ask(sacct_command(mark, options_.history), [this, mark](const Result<std::string>& text) {
    if (!text) return ask_nodes();  // there is no accounting
    past_ = std::make_unique<Past>(Past{*text});
    if (auto read = read_sacct(past_->text, mark)) past_->rows = std::move(read->rows);
    take_past();
  });
}

void SlurmEngine::take_past() {
  constexpr std::size_t kAtOnce = 500;
  const auto from = past_->rows.begin() + static_cast<std::ptrdiff_t>(past_->taken);
  const std::size_t count = std::min(kAtOnce, past_->rows.size() - past_->taken);
  mirror_->take_ended({from, from + static_cast<std::ptrdiff_t>(count)});
  past_->taken += count;
  if (past_->taken < past_->rows.size()) return site_.loop.set(*this, site_.loop.now());
  past_.reset();
  ask_nodes();
}

void SlurmEngine::ask_nodes() {
  began_ = site_.loop.now();
  reader_.ask("scontrol -a -o show node", [this](const Result<std::string>& text) {
    if (!text) return fail_survey(text.error().message);
    const auto rows = read_nodes(*text);
    if (!rows) return fail_survey(rows.error().message);
    mirror_->take(*rows);
    ask_reservations();
  });
}

// Without the right to see them there are none, here as for its users.
void SlurmEngine::ask_reservations() {
  reader_.ask(kReservationCommand, [this](const Result<std::string>& text) {
    const auto rows =
        text ? read_reservations(*text) : Result<std::vector<ReservationRow>>(std::vector<ReservationRow>{});
    if (!rows) return fail_survey(rows.error().message);
    mirror_->take(*rows);
    if (site_.loop.now() < asks_use_) return ask_jobs();
    ask_use();
  });
}

// Where there is no accounting, there is no use either. What is known is never older by more than a quarter of a period
// than what Slurm goes by.
void SlurmEngine::ask_use() {
  asks_use_ = site_.loop.now() + options_.reckons / 4;
  reader_.ask(kShareCommand, [this](const Result<std::string>& text) {
    if (text) site_.jobs.used(read_use(*text));
    ask_jobs();
  });
}

void SlurmEngine::ask_jobs() {
  const std::string mark = drawn_mark();
  const Instant asked = site_.loop.now();
  reader_.ask(squeue_command(mark), [this, mark, asked](const Result<std::string>& text) {
    if (!text) return fail_survey(text.error().message);
    take_jobs(*text, mark, asked);
  });
}

void SlurmEngine::take_jobs(const std::string& text, const std::string& mark, Instant asked) {
  const auto rows = read_squeue(text, mark);
  if (!rows) return fail_survey(rows.error().message);
  readings_.unread_rows += rows->unread;
  auto missing = mirror_->take(rows->rows, asked);
  writer_.listed(rows->rows);
  ask_throttles(mirror_->new_arrays(), [this, asked, missing = std::move(missing)]() mutable {
    if (missing.empty()) return end_survey(asked);
    ask_missing(std::move(missing), asked);
  });
}

void SlurmEngine::ask_throttles(std::vector<std::int64_t> arrays, std::function<void()> then) {
  if (arrays.empty()) return then();
  const std::string mark = drawn_mark();
  reader_.ask(throttle_command(mark, arrays), [this, mark, then = std::move(then)](const Result<std::string>& text) {
    if (text)
      for (const auto& [array, most] : read_throttles(*text, mark)) site_.jobs.throttle(array, most);
    then();
  });
}

// Where there is no accounting, how they ended is known no longer.
void SlurmEngine::ask_missing(std::vector<std::string> missing, Instant asked) {
  if (missing.size() > kMostMissing) missing.resize(kMostMissing);  // the others the next time
  const std::string mark = drawn_mark();
  const std::string command = sacct_command_for(mark, missing);
  reader_.ask(command, [this, mark, missing = std::move(missing), asked](const Result<std::string>& text) {
    const auto rows = text ? read_sacct(*text, mark) : Result<JobRows>(std::unexpected(text.error()));
    if (rows) mirror_->take_ended(rows->rows);
    mirror_->give_up(missing);
    end_survey(asked);
  });
}

void SlurmEngine::end_survey(Instant asked) {
  answered_ = site_.loop.now();
  failure_.clear();
  ++readings_.done;
  readings_.latest = answered_ - began_;
  site_.jobs.surveyed(asked);
  writer_.surveyed();
  static_cast<void>(intake_->decide());
  site_.loop.set(*this, std::max(asked + options_.poll, site_.loop.now()));
}

void SlurmEngine::fail_survey(const std::string& why) {
  failure_ = why;
  ++readings_.failed;
  writer_.beat();
  site_.loop.set(*this, site_.loop.now() + options_.poll);
}

}  // namespace rota::slurm
