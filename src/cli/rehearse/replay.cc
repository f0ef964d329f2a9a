// rota replay: a journal folded again, decided again, or rehearsed under another policy.
#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/printed.h"
#include "cli/rehearse/journals.h"
#include "cli/rehearse/kept_state.h"
#include "cli/rehearse/rehearse_flags.h"
#include "control/replay.h"
#include "report/policy_labels.h"
#include "store/fact_codec.h"
#include "store/fact_json.h"

namespace rota::cli {
namespace {

struct ReplayFlags {
  std::string journal;
  std::string policies;
  std::string facts_file;
  bool check = false;
  bool json = false;
};

std::string in_seconds(Instant at) {
  const auto ms = at.time_since_epoch().count();
  std::string text = grouped(ms / 1000);
  if (ms % 1000 != 0) text += "." + std::to_string(1000 + ms % 1000).substr(1);
  return text + " s";
}

// What became of the state, in one line for each thing.
std::string told(const Replay& replay, const ReplayFlags& flags) {
  const Cluster& state = replay.state();
  const auto waiting = static_cast<std::int64_t>(all_waiting(state));
  const auto running = static_cast<std::int64_t>(state.running().size());
  const auto barred = static_cast<std::int64_t>(state.barred());
  return fmt::format(
      "{}: {}, {}, {} of which decided something; until {}\nat the end {}{}{}{}{}{} held or not eligible\n",
      one_line(flags.journal), amount(replay.facts(), "fact"), amount(replay.cycles(), "cycle"),
      grouped(replay.decisions()), in_seconds(state.now()), amount(waiting, "job"),
      waiting == 1 ? " waits, " : " wait, ", grouped(running), running == 1 ? " runs, " : " run, ", grouped(barred),
      barred == 1 ? " is" : " are");
}

constexpr const char* kBegunAnew = "it was begun anew with the state as it stood, as when a policy is set";

// `since`: when it was begun anew; empty: it never was.
Result<int> tell(const Replay& replay, const ReplayFlags& flags, bool whole, const std::string& since) {
  std::string text = told(replay, flags);
  if (!since.empty()) text += fmt::format("it tells from {} on: then {}\n", since, kBegunAnew);
  if (flags.check) {
    text += replay.cycles() > 0 ? "every cycle was decided again, and each plan is the same\n"
                                : "there is no cycle in it, so that nothing was decided again\n";
  }
  if (flags.check && !whole) text += "what was left out at the end was not checked\n";
  std::cout << text;
  if (!std::cout.flush()) return fail(kNoOutput);
  return flags.check && !whole ? kNo : kDone;
}

Result<int> rehearse_under(const std::vector<Fact>& facts, const JournalSetting& setting, const ReplayFlags& flags) {
  RehearseFlags asked;
  asked.policy = flags.policies;
  asked.cluster = flags.journal;
  asked.ties = setting.options.engine.ties == sim::Ties::submit_first ? "submit-first" : "batch";
  const auto chains = TRY(asked.chains());
  TRY(asked.policies_suit(setting.machine.get()));
  const auto [workload, tasks] = TRY(ended_jobs_of(facts, setting, flags.journal));
  for (const auto& f : workload.report.findings) {
    remark(fmt::format("{}: {} ({})", flags.journal, f.what, amount(f.rows, "job")));
  }
  if (setting.tasks && !tasks) {
    remark(flags.journal +
           ": jobs had tasks for accelerators, but ran as long as their log says: no fact reports them");
  }
  const bool by_shares =
      std::ranges::any_of(chains, [](const Chain& chain) { return chain.knobs().slurm.by_shares(); });
  if (by_shares && setting.machine && !setting.machine->accounts.empty() && !setting.shares) {
    remark(flags.journal + ": whose shares of [[accounts]] jobs use is not in it: every user has one, at the top");
  }
  RehearseOptions options;
  options.processors = setting.options.processors;
  options.machine = setting.machine;
  options.shares = setting.shares;
  options.limit_names = setting.limit_names;
  options.ties = setting.options.engine.ties;
  options.tasks = tasks;
  std::vector<report::Summary> summaries;
  for (const Chain& chain : chains) {
    auto rehearsed = TRY(rehearse(workload, chain, options));
    summaries.push_back(std::move(rehearsed.summary));
    summaries.back().has_copies = false;
  }
  report::call_by_labels(summaries);
  write_comparison(std::cout, summaries, flags.json);
  if (!std::cout.flush()) return fail(kNoOutput);
  return kDone;
}

Result<int> write_facts(KeptJournal& journal, const std::string& path) {
  auto file = TRY(OutputFile::create(path));
  auto done = journal.visit([&](const Fact& fact) -> Result<void> {
    file.stream() << store::fact_line(store::ref_of(fact)) << '\n';
    return {};
  });
  if (!done) return std::unexpected(done.error());
  if (!journal.note().empty()) remark("rota: " + journal.note());
  TRY(file.commit());
  return kDone;
}

Result<int> replay(const ReplayFlags& flags) {
  auto journal = TRY(KeptJournal::open(flags.journal));
  if (same_file(flags.facts_file, flags.journal)) {
    return fail("the facts of {} cannot be written over it; give another file.", flags.journal);
  }
  if (!flags.facts_file.empty()) return write_facts(journal, flags.facts_file);
  auto setting = TRY(setting_of(journal.head(), flags.journal));
  const ClusterOptions options = setting.cluster_options();
  const bool rehearses = !flags.policies.empty();
  std::vector<Fact> facts;
  std::string since;
  Replay replay(options, setting.chain, flags.check ? Replay::Check::decides_again : Replay::Check::folds);
  auto done = journal.visit([&](const Fact& fact) -> Result<void> {
    if (rehearses) facts.push_back(fact);
    if (std::string anew = begun_anew(fact, setting.unix_start); !anew.empty()) since = std::move(anew);
    if (auto folded = replay.fold(fact); !folded) return fail("{}: {}", flags.journal, folded.error().message);
    return {};
  });
  if (!done) return std::unexpected(done.error());
  if (!journal.note().empty()) remark("rota: " + journal.note());
  if (rehearses) {
    if (!since.empty()) remark(fmt::format("{}: only jobs from {} on: then {}", flags.journal, since, kBegunAnew));
    return rehearse_under(facts, setting, flags);
  }
  return tell(replay, flags, journal.note().empty(), since);
}

}  // namespace

void add_replay(Command app, Action& action) {
  auto flags = std::make_shared<ReplayFlags>();
  Command command = app.add_subcommand("replay", "fold a journal again, and see whether the same would be decided");
  command.description(
      "Reads a journal: what rota simulate --journal has kept, or the state folder of a live "
      "service, also while that "
      "goes on. It holds every fact, in order. Without options it says what became of the state.");
  command.add_option("JOURNAL", flags->journal, "what --journal has written, or a state folder")
      .required()
      .type_name("FILE");
  command.add_flag("--check", flags->check, "decide again at each cycle and compare every plan");
  command
      .add_option("--policy", flags->policies,
                  "rehearse the jobs of the journal under these policies, names with commas")
      .type_name("NAME[+KNOB=VALUE...]")
      .excludes("--check");
  command.add_option("--facts", flags->facts_file, "write every fact as a line of JSON; - is standard output")
      .type_name("FILE.jsonl")
      .excludes("--check")
      .excludes("--policy");
  command.add_flag("--json", flags->json, "print the comparison of policies as JSON").needs("--policy");
  command.footer(
      "Examples:\n"
      "  rota simulate log.swf --policy easy --journal easy.journal\n"
      "  rota replay easy.journal --check\n"
      "  rota replay easy.journal --policy conservative,easy+order=sjf");
  command.callback([&action, flags] {
    action = [flags] {
      flags->journal = database_of(flags->journal);
      return replay(*flags);
    };
  });
}

}  // namespace rota::cli
