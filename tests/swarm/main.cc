// The swarm: whole systems in virtual time with faults, a few that have a name and then one for each seed; each runs
// twice and must do the same. What they must not do is in safety.h, what goes wrong in case.h; for a federation of
// sites in account.h and federation_case.h, and what is taken for granted there in member.h.
#include <fmt/core.h>

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "swarm/federation.h"
#include "swarm/named_cases.h"
#include "swarm/shrink.h"
#include "swarm/world.h"

namespace rota::swarm {
namespace {

std::string running;  // what it is called, for a signal that ends the process

void say_seed(int /*signal*/) {
  char text[80];
  const int length = std::snprintf(text, sizeof text, "while running %s\n", running.c_str());
  static_cast<void>(!write(STDERR_FILENO, text, static_cast<std::size_t>(length)));
}

struct Flags {
  std::uint64_t first = 1;
  std::uint64_t seeds = 200;
  bool goes_on = false;  // after a failure
  bool shrinks = true;
  bool sqlite = false;
  bool federations = false;  // every seed is one
  bool tells = false;        // every fact of the shrunk case, or of the seed's
};

bool read_flags(int count, char** words, Flags& flags) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--go-on") {
      flags.goes_on = true;
    } else if (word == "--no-shrinking") {
      flags.shrinks = false;
    } else if (word == "--sqlite") {
      flags.sqlite = true;
    } else if (word == "--federations") {
      flags.federations = true;
    } else if (word == "--facts") {
      flags.tells = true;
    } else if ((word == "--seeds" || word == "--first") && i + 1 < count) {
      (word == "--seeds" ? flags.seeds : flags.first) = std::strtoull(words[++i], nullptr, 10);
    } else {
      std::fprintf(stderr,
                   "usage: tests_swarm [--seeds N] [--first SEED] [--federations] [--sqlite] [--go-on] "
                   "[--no-shrinking] [--facts]\n");
      return false;
    }
  }
  return true;
}

// One seed in so many is a federation, if not all are.
constexpr std::uint64_t kFederation = 5;

void tell_facts(Case& drawn) { drawn.tells = true; }
void tell_facts(FederationCase& drawn) {
  for (Case& site : drawn.sites) site.tells = true;
}

Case kept_in(Case drawn, bool sqlite) {
  drawn.sqlite = sqlite;
  return drawn;
}
FederationCase kept_in(FederationCase drawn, bool sqlite) {
  for (Case& site : drawn.sites) site.sqlite = sqlite;
  return drawn;
}

template <class Drawn>
void tell_failure(Drawn drawn, const std::string& what, const Flags& flags) {
  std::printf("%s fails: %s\n", running.c_str(), what.c_str());
  if (flags.shrinks) {
    drawn = shrunk(std::move(drawn));
    std::printf("what is left of it once it is made smaller:\n");
  }
  std::printf("%s", told(drawn).c_str());
  if (flags.tells) tell_facts(drawn);
  if (const auto run = run_case(drawn); run.failure) std::printf("  fails: %s\n", run.failure->c_str());
  std::fflush(stdout);
}

using Shows = bool (*)(const Counts&);

// False: it fails.
template <class Drawn>
bool check(const Drawn& drawn, const Flags& flags, Counts& sums, Shows shows = nullptr) {
  if (flags.goes_on) {  // a CHECK would end the whole run
    if (const std::string how = failure_of(drawn); !how.empty()) {
      std::printf("%s fails: %s\n", running.c_str(), how.c_str());
      std::fflush(stdout);
      return false;
    }
  }
  const RunOutcome once = run_case(drawn);
  if (once.failure) {
    tell_failure(drawn, *once.failure, flags);
    return false;
  }
  if (run_case(drawn).hash != once.hash) {
    std::printf("%s fails: two runs of it differ\n", running.c_str());
    return false;
  }
  if (shows && !shows(once.counts)) {
    Flags as_it_is = flags;
    as_it_is.shrinks = false;
    tell_failure(drawn, "it does not come to what it is about", as_it_is);
    return false;
  }
  sums.add(once.counts);
  return true;
}

int run(const Flags& flags) {
  Counts sums;
  std::int64_t failures = 0;
  for (const NamedCase& named : named_cases()) {
    if (flags.sqlite) break;  // they are about other things
    running = fmt::format("the case \"{}\"", named.name);
    const auto checked = [&](const auto& drawn) { return check(drawn, flags, sums, named.shows); };
    if (std::visit(checked, named.drawn)) continue;
    ++failures;
    if (!flags.goes_on) return 1;
  }
  sums = {};
  for (std::uint64_t seed = flags.first; seed < flags.first + flags.seeds; ++seed) {
    running = "seed " + std::to_string(seed);
    const bool federated = flags.federations || seed % kFederation == 0;
    const bool good = federated ? check(kept_in(draw_federation(seed), flags.sqlite), flags, sums)
                                : check(kept_in(draw_case(seed), flags.sqlite), flags, sums);
    sums.seeds += good ? 1 : 0;
    if (good) continue;
    ++failures;
    if (!flags.goes_on) return 1;
  }
  std::printf("%lld seeds, each run twice alike\n%s", static_cast<long long>(sums.seeds), table_of(sums).c_str());
  if (failures > 0) std::printf("%lld cases fail\n", static_cast<long long>(failures));
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
