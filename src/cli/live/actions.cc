// rota actions, undo: what was written to a cluster that Slurm runs, and taking it back. Both read the log in the state
// folder and work without the service.
#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "cli/live/background.h"
#include "cli/printed.h"
#include "cli/when.h"
#include "engine/slurm/mandate_folder.h"
#include "engine/slurm/take_back.h"

namespace rota::cli {
namespace {

struct ActionsFlags {
  std::string state, since = "7d";
  bool standing = false;
};

struct UndoFlags {
  std::string state, silent = "10m";
  bool all = false, expired = false;
};

std::string user_of(std::uint32_t uid) {
  const passwd* user = ::getpwuid(uid);
  return user != nullptr ? user->pw_name : std::to_string(uid);
}

Result<slurm::MandateFolder> folder_of_modes(const std::string& state) {
  std::string folder = TRY(state.empty() ? default_state() : Result<std::string>(state));
  return slurm::MandateFolder(folder + "/" + slurm::MandateFolder::kName);
}

Result<int> show_actions(const ActionsFlags& flags) {
  const auto back = parse_duration(flags.since);
  if (!back) return fail("--since {}", back.error().message);
  const std::int64_t since = unix_now() * 1000 - back->count();
  const auto folder = TRY(folder_of_modes(flags.state));
  const auto log = TRY(folder.read_log());
  slurm::Written written;
  for (const slurm::LogLine& line : log.lines) written.add(line);
  std::vector<std::vector<std::string>> rows;
  for (const slurm::LogLine& line : log.lines) {
    const bool of_job = line.job != 0;
    const bool stands = line.event == slurm::LogEvent::write && written.standing.contains(line.job);
    if (line.at < since || (flags.standing && !stands)) continue;
    rows.push_back({time_text(static_cast<double>(line.at) / 1000),
                    std::string(slurm::kLogEventNames[static_cast<std::size_t>(line.event)]), line.mechanism,
                    line.partition, of_job ? std::to_string(line.job) : "-", of_job ? std::to_string(line.from) : "-",
                    of_job ? std::to_string(line.to) : "-", user_of(line.by), line.why});
  }
  return printed(
      table({{"TIME"}, {"EVENT"}, {"MECHANISM"}, {"PARTITION"}, {"JOB"}, {"FROM", true}, {"TO", true}, {"BY"}, {"WHY"}},
            rows) +
      fmt::format("\n{} with a factor that `rota undo --all` would take back.\n",
                  amount(static_cast<std::int64_t>(written.standing.size()), "job")));
}

Result<int> undo(const UndoFlags& flags) {
  if (flags.all == flags.expired) return fail("say what is to be taken back: --all or --expired.");
  const auto silent = parse_duration(flags.silent);
  if (!silent) return fail("--silent {}", silent.error().message);
  const auto folder = TRY(folder_of_modes(flags.state));
  if (::access(folder.file("modes").c_str(), F_OK) != 0)
    return printed(fmt::format("Nothing was ever written: {} has no modes.\n", shown_path(folder.path())));
  const auto done = TRY(slurm::take_back(
      folder, {.all = flags.all, .silent = *silent, .by = static_cast<std::uint32_t>(::getuid())}, slurm::run_here()));
  std::string text;
  if (done.mandates > 0) text += fmt::format("{} observes only from now on.\n", amount(done.mandates, "mode"));
  text += fmt::format("{} taken back", amount(done.undone, "factor"));
  if (done.others > 0) text += fmt::format(", {} left as somebody else has set them since", done.others);
  if (done.gone > 0) text += fmt::format("; {} gone from Slurm", amount(done.gone, "job"));
  text += ".\n";
  if (done.left > 0)
    return fail("{}{} could not be taken back: {} Run it again once Slurm answers.", text, amount(done.left, "factor"),
                done.trouble);
  return printed(text);
}

constexpr const char* kStateMeaning = "of the service; without: /var/lib/rota of root, else ~/.local/state/rota";

void add_undo(Command app, Action& action) {
  auto flags = std::make_shared<UndoFlags>();
  Command command = app.add_subcommand("undo", "take back what Rota has written to Slurm");
  command.description(
      "Reads the log in the state folder, and works without the service: run it as the same user, on a host of the "
      "cluster. First every mode that acts falls back to observe, so that nothing more is written; then each job that "
      "still has the site factor that Rota gave to it gets the one that it had before. What somebody else has changed "
      "since is left alone. It may be run again at any time.");
  command.add_flag("--all", flags->all, "of all modes");
  command.add_flag("--expired", flags->expired,
                   "of modes that are past their date, or were set otherwise, or whose service is silent: for a timer");
  command.add_option("--silent", flags->silent, "a service is dead that gave no sign of life for so long")
      .type_name("TIME")
      .capture_default_str();
  command.add_option("--state", flags->state, kStateMeaning).type_name("FOLDER");
  command.footer("Examples:\n  rota undo --all\n  rota undo --expired --silent 10m --state /var/lib/rota");
  command.callback([&action, flags] { action = [flags] { return undo(*flags); }; });
}

}  // namespace

void add_actions(Command app, Action& action) {
  auto flags = std::make_shared<ActionsFlags>();
  Command command = app.add_subcommand("actions", "list what Rota has written to Slurm");
  command.description(
      "Reads the log in the state folder, and works without the service. EVENT: write, what was about to be written; "
      "failed, Slurm did not take it; undone, taken back; settled, it was looked at again later; gone, Slurm knows the "
      "job no longer; mode, a mode was set or has fallen back. BY: the user who set the mode, or took it back. WHY of "
      "a write: the order, and the job's "
      "place.");
  command.add_option("--since", flags->since, "from so long ago on").type_name("TIME").capture_default_str();
  command.add_flag("--standing", flags->standing, "only what was written and not taken back");
  command.add_option("--state", flags->state, kStateMeaning).type_name("FOLDER");
  command.footer("Examples:\n  rota actions --since 1h\n  rota actions --standing");
  command.callback([&action, flags] { action = [flags] { return show_actions(*flags); }; });
  add_undo(app, action);
}

}  // namespace rota::cli
