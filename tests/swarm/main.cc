// The swarm: whole systems in virtual time with faults, one for each seed; each runs twice and must do the same. What
// they must not do is in safety.h, what goes wrong in case.h.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "swarm/shrink.h"
#include "swarm/world.h"

namespace rota::swarm {
namespace {

struct Sums {
  std::int64_t seeds = 0, jobs = 0, steps = 0;
  Totals site;
  sim::LinkFaultCounts link;
  sim::EngineFaultCounts engine;
  sim::RunLedger::Counts ledger;
};

template <class... Members, class Counts>
void add(Counts& to, const Counts& from, Members... members) {
  ((to.*members += from.*members), ...);
}

void add(Sums& sums, const RunOutcome& run) {
  ++sums.seeds;
  sums.jobs += run.jobs;
  sums.steps += run.steps;
  add(sums.site, run.totals, &Totals::crashes, &Totals::crashes_in_batch, &Totals::after_commit,
      &Totals::failed_commits, &Totals::torn, &Totals::lost_tails, &Totals::recoveries, &Totals::replayed,
      &Totals::compactions, &Totals::facts, &Totals::resent, &Totals::refused);
  using Link = sim::LinkFaultCounts;
  add(sums.link, run.link, &Link::lost_commands, &Link::lost_answers, &Link::doubled, &Link::delayed, &Link::unheard);
  using Broken = sim::EngineFaultCounts;
  add(sums.engine, run.engine, &Broken::failed_launches, &Broken::hung_boots, &Broken::node_deaths, &Broken::drains,
      &Broken::lost_jobs);
  using Late = sim::RunLedger::Counts;
  add(sums.ledger, run.ledger, &Late::of_old_epochs, &Late::doubled, &Late::out_of_order);
}

void tell(const Sums& s) {
  const auto line = [](const char* what, std::int64_t count) {
    std::printf("  %-46s %12lld\n", what, static_cast<long long>(count));
  };
  std::printf("%lld seeds, each run twice alike\n", static_cast<long long>(s.seeds));
  line("jobs", s.jobs);
  line("facts", s.site.facts);
  line("steps of the loop", s.steps);
  line("crashes of the controller", s.site.crashes);
  line("  after a commit, before its commands", s.site.after_commit);
  line("  between two commands of a batch", s.site.crashes_in_batch);
  line("recoveries from the journal", s.site.recoveries);
  line("facts replayed", s.site.replayed);
  line("compactions of the journal", s.site.compactions);
  line("commits that failed", s.site.failed_commits);
  line("  tails torn by a crash", s.site.torn);
  line("  tails lost by a crash", s.site.lost_tails);
  line("commands lost", s.link.lost_commands);
  line("answers lost", s.link.lost_answers);
  line("answers that nobody heard", s.link.unheard);
  line("messages doubled", s.link.doubled);
  line("messages delayed", s.link.delayed);
  line("commands sent again", s.site.resent);
  line("commands that came again", s.ledger.doubled);
  line("commands that came too late", s.ledger.out_of_order);
  line("commands of a controller that was gone", s.ledger.of_old_epochs);
  line("observed facts refused", s.site.refused);
  line("launches that failed", s.engine.failed_launches);
  line("boots that hung", s.engine.hung_boots);
  line("nodes that died", s.engine.node_deaths);
  line("  jobs lost with them", s.engine.lost_jobs);
  line("nodes that drained", s.engine.drains);
}

std::uint64_t running = 0;  // the seed, for who ends the process

void say_seed(int /*signal*/) {
  char text[64];
  const int length =
      std::snprintf(text, sizeof text, "while running seed %llu\n", static_cast<unsigned long long>(running));
  static_cast<void>(!write(STDERR_FILENO, text, static_cast<std::size_t>(length)));
}

bool fail_with(std::uint64_t seed, const std::string& what, bool shrinks, bool tells) {
  std::printf("seed %llu fails: %s\n", static_cast<unsigned long long>(seed), what.c_str());
  Case drawn = draw_case(seed);
  if (shrinks) {
    drawn = shrunk(drawn);
    std::printf("what is left of it once it is made smaller:\n");
    std::printf("%s", told(drawn).c_str());
    drawn.tells = tells;
    if (const auto run = run_case(drawn); run.failure) std::printf("  fails: %s\n", run.failure->c_str());
  } else {
    std::printf("  policy %s\n", drawn.policy.c_str());
  }
  std::fflush(stdout);
  return false;
}

struct Flags {
  std::uint64_t first = 1;
  std::uint64_t seeds = 200;
  bool goes_on = false;  // after a failure
  bool shrinks = true;
  bool tells = false;  // every fact of the shrunk case, or of the seed's
};

bool read_flags(int count, char** words, Flags& flags) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--go-on") {
      flags.goes_on = true;
    } else if (word == "--no-shrinking") {
      flags.shrinks = false;
    } else if (word == "--facts") {
      flags.tells = true;
    } else if ((word == "--seeds" || word == "--first") && i + 1 < count) {
      (word == "--seeds" ? flags.seeds : flags.first) = std::strtoull(words[++i], nullptr, 10);
    } else {
      std::fprintf(stderr, "usage: tests_swarm [--seeds N] [--first SEED] [--go-on] [--no-shrinking] [--facts]\n");
      return false;
    }
  }
  return true;
}

int run(const Flags& flags) {
  Sums sums;
  std::int64_t failures = 0;
  for (std::uint64_t seed = flags.first; seed < flags.first + flags.seeds; ++seed) {
    running = seed;
    const Case drawn = draw_case(seed);
    if (const std::string how = flags.goes_on ? failure_of(drawn) : "";
        !how.empty()) {  // a CHECK would end the whole run
      ++failures;
      std::printf("seed %llu fails: %s\n", static_cast<unsigned long long>(seed), how.c_str());
      std::fflush(stdout);
      continue;
    }
    const RunOutcome once = run_case(drawn);
    if (once.failure) {
      fail_with(seed, *once.failure, flags.shrinks, flags.tells);
      return 1;
    }
    if (run_case(drawn).hash != once.hash) {
      fail_with(seed, "two runs of it differ", false, false);
      return 1;
    }
    add(sums, once);
  }
  tell(sums);
  if (failures > 0) std::printf("%lld seeds fail\n", static_cast<long long>(failures));
  return failures > 0 ? 1 : 0;
}

}  // namespace
}  // namespace rota::swarm

int main(int count, char** words) {
  rota::swarm::Flags flags;
  if (!rota::swarm::read_flags(count, words, flags)) return 2;
  std::signal(SIGABRT, rota::swarm::say_seed);
  return rota::swarm::run(flags);
}
