// rota tune: what the knobs of a policy are best set to, by one part of a log, and whether that holds on the other.
#include <fmt/core.h>

#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/printed.h"
#include "cli/progress.h"
#include "cli/rehearse/rehearse_flags.h"
#include "cli/rehearse/tuning_text.h"
#include "cli/rehearse/window_flags.h"
#include "log/log.h"

namespace rota::cli {
namespace {

struct TuneFlags {
  std::string workload;
  RehearseFlags rehearse;
  WindowFlags window;
  std::vector<std::string> knobs;  // "depth", "depth=1..16"
  std::vector<std::string> rules{"mean"};
  std::size_t tries = 200;
  std::size_t threads = 0;
  bool json = false;
  bool quiet = false;
};

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler writes it");

// The first interrupt ends the search, a second one the command.
void end_at_interrupt() {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
}

Result<TunedKnob> tuned_knob(std::string_view text, const Chain& chain) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = trimmed(text.substr(0, equals));
  TunedKnob tuned{knob_named(name)};
  if (tuned.knob == nullptr)
    return fail("--knobs: there is no policy knob {}; `rota policies` lists them.", rota::quoted(name));
  tuned.values = TRY(equals < text.size() ? swept_values(*tuned.knob, trimmed(text.substr(equals + 1)))
                                          : values_to_try(*tuned.knob, chain));
  return tuned;
}

Result<std::vector<TunedKnob>> tuned_knobs(const TuneFlags& flags, const Chain& chain) {
  std::vector<TunedKnob> knobs;
  for (const std::string& text : flags.knobs.empty() ? knobs_to_tune(chain) : flags.knobs) {
    auto knob = TRY(tuned_knob(text, chain));
    if (std::ranges::find(knobs, knob.knob, &TunedKnob::knob) != knobs.end())
      return fail("--knobs names {} twice. Leave one of the two out.", knob.knob->name);
    knobs.push_back(std::move(knob));
  }
  return knobs;
}

// Shows how much of what is planned is done; plans grow while the search goes on.
class SearchProgress {
 public:
  explicit SearchProgress(bool shown) : bar_(shown, std::string("rehearsals")) {}
  void plan(std::size_t more) { planned_ += more; }
  void done() { bar_.share(static_cast<double>(++done_) / static_cast<double>(planned_.load())); }

 private:
  Progress bar_;
  std::atomic<std::size_t> planned_ = 0;
  std::atomic<std::size_t> done_ = 0;
};

Result<int> tune_knobs(const TuneFlags& flags) {
  const auto swf = TRY(flags.rehearse.swf());
  auto workload = TRY(log::read_log(flags.workload, swf));
  if (flags.window.asked()) {
    TRY(flags.window.apply(workload));
  }
  const auto chains = TRY(flags.rehearse.chains());
  const auto options = TRY(flags.rehearse.options(workload));
  TuneOptions how;
  how.policy = chains.front().text();
  how.knobs = TRY(tuned_knobs(flags, chains.front()));
  for (const std::string& name : flags.rules) how.rules.push_back(report::rule_named(name));
  how.most_tries = flags.tries;
  how.threads = flags.threads > 0 ? flags.threads : std::max(1U, std::thread::hardware_concurrency());
  how.stop = &interrupted;
  Result<Tuning> tuning;
  {
    SearchProgress progress(!flags.quiet && !flags.json && ::isatty(STDERR_FILENO) == 1);
    how.plans = [&](std::size_t more) { progress.plan(more); };
    how.rehearsed = [&] { progress.done(); };
    end_at_interrupt();
    tuning = tune(workload, how, options);
  }
  if (!tuning) return std::unexpected(tuning.error());
  const TunedLog of{workload, how};
  return printed(flags.json ? tuning_json(*tuning, of) : tuning_text(*tuning, of));
}

std::vector<std::string> names_of_rules() {
  std::vector<std::string> names;
  for (const report::Rule& rule : report::rules()) names.emplace_back(rule.name);
  return names;
}

}  // namespace

void add_tune(Command app, Action& action) {
  auto flags = std::make_shared<TuneFlags>();
  Command command = app.add_subcommand("tune", "search what a policy's knobs are best set to on a job log");
  command.description(
      "Rehearses the first half of the log, in weeks, under many settings of a policy's knobs, and judges the best of "
      "them on the other half, which took no part in the search. Prints those that no other beats, and one sentence: "
      "what is worth changing, with its interval, or that nothing is. Under policy slurm it prints lines for "
      "slurm.conf.");
  command.add_option("WORKLOAD", flags->workload, "job log, as rota simulate reads it; - is standard input")
      .required()
      .type_name("FILE");
  command
      .add_option("--knobs", flags->knobs,
                  "knobs to search, separated by commas, with values as depth=1..16 or depth=1|2|all, or without: then "
                  "about what they are now; default: those that decide most under the policy")
      .delimiter(',')
      .type_name("KNOB,...");
  command
      .add_option(
          "--rule", flags->rules,
          "what is better, separated by commas: the first decides, and what is best beside the others is shown, too")
      .delimiter(',')
      .one_of(names_of_rules())
      .default_str("mean")
      .type_name("RULE,...");
  command.add_option("--tries", flags->tries, "settings that are rehearsed at most")
      .range(2, 100'000)
      .capture_default_str()
      .type_name("N");
  flags->rehearse.declare(command, RehearseFlags::Policies::one);
  flags->window.declare(command);
  command.add_flag("--json", flags->json, "print the result as JSON; times in seconds");
  command.add_flag("--quiet", flags->quiet, "no progress bar");
  command.add_option("--threads", flags->threads, "rehearsals at a time; default: one a core")
      .range(1, 1024)
      .type_name("N");
  command.footer(
      "An interrupt (Ctrl-C) ends the search and judges what it has found by then; a second one ends the command.\n"
      "Examples:\n"
      "  rota tune site/jobs.jsonl.gz --cluster site/cluster.toml --policy slurm+bf-interval=60s\n"
      "  rota tune log.swf --policy easy --knobs depth=1..16,candidates --rule mean,p95,longest");
  command.callback([&action, flags] { action = [flags] { return tune_knobs(*flags); }; });
}

}  // namespace rota::cli
