#include "engine/slurm/take_back.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <utility>
#include <vector>

#include "base/text.h"
#include "engine/slurm/reader.h"
#include "engine/slurm/site_factors.h"
#include "process/clock.h"
#include "process/site_command.h"

namespace rota::slurm {
namespace {

constexpr std::size_t kAtOnce = 100;  // jobs of one command
constexpr std::string_view kGone = "it waits no longer";
constexpr std::string_view kUpdated = ": No error";  // said beside each task of an array that was updated

struct Queue {
  std::map<std::int64_t, std::int64_t> factors;  // of those that sprio lists
  std::set<std::int64_t> known;                  // all that have not ended
};

std::string last_line(std::string_view text) {
  const auto lines = split(trimmed(text), '\n');
  return one_line(lines.back());
}

Result<Queue> ask(const RunCommand& run) {
  Queue queue;
  const Ran priorities = run(sprio_command());
  if (priorities.code != 0) return fail("`sprio` failed: {}", last_line(priorities.output));
  for (const PriorityRow& row : TRY(read_sprio(priorities.output)))
    if (!row.by_hand) queue.factors[row.job] = row.factor;  // beside a priority that was set by hand sprio shows 0
  // One that goes back to the queue is COMPLETING at first.
  const Ran listed = run("squeue -h -a -r -t PD,R,S,CF,CG,ST,RQ,RH,RF,RD,SE,SI,SO,RS -O JobID:20,ArrayJobID:20");
  if (listed.code != 0) return fail("`squeue` failed: {}", last_line(listed.output));
  for (const std::string_view line : split(listed.output, '\n')) {
    std::int64_t job = 0;  // a task by itself, behind which its array is named
    for (const std::string_view word : split(line, ' ')) {
      const auto id = parse_integer(word);
      if (!id) continue;
      queue.known.insert(*id);
      if (job != 0 && *id != job) queue.factors.erase(*id);  // such tasks took along what no line of the log names
      job = *id;
    }
  }
  return queue;
}

// Which of them end now.
std::vector<Mandate*> ending(std::vector<Mandate>& modes, const TakeBack& wanted, const MandateFolder& folder,
                             std::int64_t now) {
  const auto silent = folder.since_heartbeat();
  std::vector<Mandate*> all;
  for (Mandate& mandate : modes) {
    if (mandate.mode != Mode::act) continue;
    const bool late = mandate.until > 0 && mandate.until <= now;
    const bool dead = !silent || *silent > wanted.silent;
    if (!wanted.all && !late && !dead) continue;
    mandate.mode = Mode::observe;
    mandate.grant.clear();
    mandate.fell = wanted.all ? "Its factors were taken back by `rota undo --all`."
                   : late     ? "Its time was over."
                              : fmt::format("The service had given no sign of life for {}.",
                                        silent ? format_duration(Duration{silent->count() / 1000 * 1000}) : "ever");
    all.push_back(&mandate);
  }
  return all;
}

class Undoing {
 public:
  Undoing(const MandateFolder& folder, const TakeBack& wanted, const RunCommand& run, TakenBack& out)
      : folder_(folder), wanted_(wanted), run_(run), out_(out) {}

  Result<void> undo(const WritesByJob& standing, const Queue& queue) {
    for (const auto& [job, was] : standing) {
      const auto shown = queue.factors.find(job);
      const bool is_shown = shown != queue.factors.end();
      if (!is_shown && !queue.known.contains(job)) {
        note(job, was, LogEvent::undone, std::string(kGone));
        ++out_.gone;
      } else if (is_shown && shown->second == was.from) {
        note(job, was, LogEvent::undone, "it was so already");
        ++out_.undone;
      } else if (is_shown && !was.to.contains(shown->second)) {
        note(job, was, LogEvent::undone, fmt::format("left at {}, which Rota did not write", shown->second));
        ++out_.others;
      } else {  // what is held, depends on another, runs or has a priority by hand is not shown
        by_factor_[was.from].push_back(job);
      }
    }
    return write_all(standing, LogEvent::undone);
  }

  // What was taken back a while ago. What sprio does not show is written once more.
  Result<void> look_again(const WritesByJob& undone, const Queue& queue) {
    WritesByJob back, unseen;
    for (const auto& [job, was] : undone) {
      const auto shown = queue.factors.find(job);
      const bool is_shown = shown != queue.factors.end();
      if (is_shown && shown->second != was.from && was.to.contains(shown->second)) {
        back.emplace(job, was);
      } else if (!is_shown && queue.known.contains(job)) {
        unseen.emplace(job, was);
      } else {
        note(job, was, LogEvent::settled, "");
      }
    }
    for (const auto& [job, was] : back) by_factor_[was.from].push_back(job);
    TRY(write_all(back, LogEvent::undone));
    for (const auto& [job, was] : unseen) by_factor_[was.from].push_back(job);
    return write_all(unseen, LogEvent::settled);
  }

 private:
  Result<void> write_all(const WritesByJob& of, LogEvent event) {
    TRY(folder_.add(lines_));
    lines_.clear();
    for (const auto& [factor, jobs] : std::exchange(by_factor_, {})) {
      for (std::size_t at = 0; at < jobs.size(); at += kAtOnce)
        TRY(write(std::span(jobs).subspan(at, std::min(kAtOnce, jobs.size() - at)), factor, {of, event}));
    }
    return {};
  }

  void note(std::int64_t job, const JobWrites& was, LogEvent event, std::string why) {
    lines_.push_back({.at = process::unix_milliseconds(),
                      .event = event,
                      .mechanism = was.mechanism,
                      .partition = was.partition,
                      .grant = was.grant,
                      .job = job,
                      .from = was.to.empty() ? was.from : *was.to.rbegin(),
                      .to = was.from,
                      .by = wanted_.by,
                      .why = std::move(why)});
  }

  struct Meant {
    const WritesByJob& of;
    LogEvent event;  // once it is written
  };
  // Where one of them is refused, each is tried by itself.
  Result<void> write(std::span<const std::int64_t> jobs, std::int64_t factor, const Meant& meant) {
    std::string ids;
    for (const std::int64_t job : jobs) ids += fmt::format("{}{}", ids.empty() ? "" : ",", job);
    const Ran ran = run_(fmt::format("scontrol update JobId={} SiteFactor={}", ids, factor));
    if (ran.code != 0 && jobs.size() > 1) {
      for (const std::int64_t& job : jobs) TRY(write(std::span(&job, 1), factor, meant));
      return {};
    }
    const bool gone = ran.code != 0 && !ran.output.contains(kUpdated);
    const std::string complaint = ran.code == 0 ? std::string() : complaint_in(ran.output);
    for (const std::int64_t job : jobs) {
      if (!complaint.empty()) {
        ++out_.left;
        out_.trouble = fmt::format("`scontrol update` of job {} failed: {}", job, complaint);
        continue;
      }
      note(job, meant.of.at(job), meant.event, std::string(gone ? kGone : ""));
      if (meant.event == LogEvent::undone) ++(gone ? out_.gone : out_.undone);
    }
    TRY(folder_.add(lines_));
    lines_.clear();
    return {};
  }

  const MandateFolder& folder_;
  const TakeBack& wanted_;
  const RunCommand& run_;
  TakenBack& out_;
  std::vector<LogLine> lines_;
  std::map<std::int64_t, std::vector<std::int64_t>> by_factor_;  // that are to be written
};

}  // namespace

std::string complaint_in(std::string_view answer) {
  constexpr std::array<std::string_view, 4> kNoComplaint{"Invalid job id", "already completing or completed",
                                                         "Job has already finished", kUpdated};
  if (trimmed(answer).empty()) return "it said nothing";
  for (const std::string_view line : split(answer, '\n')) {
    const std::string_view text = trimmed(line);
    if (!text.empty() && std::ranges::none_of(kNoComplaint, [&](std::string_view said) { return text.contains(said); }))
      return one_line(text.substr(0, 200));
  }
  return {};
}

RunCommand run_here() {
  return [](const std::string& command) {
    constexpr Duration kPatience = seconds(120);
    constexpr std::size_t kMostOutput = 256U << 20U;
    Ran ran;
    boost::asio::io_context io;
    const process::SiteCommand running(io,
                                       {.text = plainly(command),
                                        .variables = {"TZ=UTC", "LC_ALL=C"},
                                        .timeout = kPatience,
                                        .most_output = kMostOutput},
                                       [&](const process::SiteCommand::End& end) {
                                         ran = {.code = end.done ? 0 : end.code, .output = end.output};
                                         if (!end.done && ran.code == 0) ran.code = -1;
                                         if (ran.output.empty() && !end.done) ran.output = end.why;
                                       });
    io.run();
    return ran;
  };
}

Result<TakenBack> take_back(const MandateFolder& folder, const TakeBack& wanted, const RunCommand& run) {
  constexpr Duration kPatience = seconds(150);  // beyond that of any command that writes
  TakenBack out;
  const process::Descriptor lock = TRY(folder.lock(kPatience));
  auto modes = TRY(folder.modes());
  const std::int64_t now = process::unix_milliseconds();
  std::vector<LogLine> lines;
  for (const Mandate* mandate : ending(modes, wanted, folder, now / 1000))
    lines.push_back({.at = now,
                     .event = LogEvent::mode,
                     .mechanism = mandate->mechanism,
                     .partition = mandate->partition,
                     .by = wanted.by,
                     .why = "observe: " + mandate->fell});
  out.mandates = std::ssize(lines);
  if (!lines.empty()) TRY(folder.put_modes(modes));
  TRY(folder.add(lines));
  Written written;
  for (const LogLine& line : TRY(folder.read_log()).lines) written.add(line);
  std::erase_if(written.standing, [&](const auto& each) {
    return std::ranges::any_of(
        modes, [&](const Mandate& mandate) { return mandate.mode == Mode::act && mandate.grant == each.second.grant; });
  });
  std::erase_if(written.undone, [&](const auto& each) { return each.second.undone + kSavedWithin.count() > now; });
  if (written.standing.empty() && written.undone.empty()) return out;
  const Queue queue = TRY(ask(run));
  Undoing undoing(folder, wanted, run, out);
  TRY(undoing.undo(written.standing, queue));
  TRY(undoing.look_again(written.undone, queue));
  return out;
}

}  // namespace rota::slurm
