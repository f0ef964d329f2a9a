#include "swarm/shrink.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "swarm/federation.h"
#include "swarm/world.h"

namespace rota::swarm {
namespace {

template <class Drawn>
std::string how_it_fails(const Drawn& drawn) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    alarm(20);  // a loop that never ends is a failure too
    const auto failure = run_case(drawn).failure;
    const std::string text = failure.value_or("");
    static_cast<void>(!write(ends[1], text.data(), text.size()));
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(ends[0], part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (text.empty() && !WIFEXITED(status)) text = "it was ended by a signal";
  std::erase_if(text, [](char c) { return (c >= '0' && c <= '9') || c == '\n'; });
  return text.substr(0, text.starts_with("it never ends") ? 13 : 300);
}

template <class Drawn>
using Fails = std::function<bool(const Drawn&)>;

// Halves first, then single ones.
template <class Drawn, class Element>
bool without_some(Drawn& drawn, const Fails<Drawn>& fails, std::vector<Element> Drawn::* list) {
  bool smaller = false;
  for (std::size_t part = std::max<std::size_t>((drawn.*list).size() / 2, 1); part > 0; part /= 2) {
    for (std::size_t from = 0; from < (drawn.*list).size();) {
      Drawn less = drawn;
      auto& rest = less.*list;
      const std::size_t to = std::min(from + part, rest.size());
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(from), rest.begin() + static_cast<std::ptrdiff_t>(to));
      if (fails(less)) {
        drawn = std::move(less);
        smaller = true;
      } else {
        from += part;
      }
    }
  }
  return smaller;
}

template <class Drawn, class Change>
bool with(Drawn& drawn, const Fails<Drawn>& fails, const Change& change) {
  Drawn less = drawn;
  if (!change(less) || !fails(less)) return false;
  drawn = std::move(less);
  return true;
}

template <class Drawn, class Part>
bool without(Drawn& drawn, const Fails<Drawn>& fails, Part Drawn::* part, double Part::* chance) {
  return with(drawn, fails, [&](Drawn& d) { return std::exchange(d.*part.*chance, 0.0) != 0.0; });
}

bool without_faults(Case& drawn, const Fails<Case>& fails) {
  bool smaller = without(drawn, fails, &Case::link, &sim::LinkFaults::loses);
  smaller = without(drawn, fails, &Case::link, &sim::LinkFaults::doubles) || smaller;
  smaller = without(drawn, fails, &Case::link, &sim::LinkFaults::delays) || smaller;
  smaller = without(drawn, fails, &Case::engine, &sim::EngineFaults::launch_fails) || smaller;
  smaller = without(drawn, fails, &Case::engine, &sim::EngineFaults::launch_fails_for_good) || smaller;
  smaller = without(drawn, fails, &Case::engine, &sim::EngineFaults::boot_hangs) || smaller;
  smaller = without(drawn, fails, &Case::store, &store::StoreFaults::commit_fails) || smaller;
  return without(drawn, fails, &Case::store, &store::StoreFaults::compact_fails) || smaller;
}

bool plainer_jobs(Case& drawn, const Fails<Case>& fails) {
  bool smaller = false;
  for (std::size_t i = 0; i < drawn.jobs.size(); ++i) {
    const auto plainer = [&](const auto& change) {
      smaller = with(drawn, fails, [&](Case& c) { return change(c.jobs[i]); }) || smaller;
    };
    plainer([](CaseJob& j) {
      j.begin = j.array = 0;
      j.after.clear();
      j.holds = kNoBars;
      return std::exchange(j.has_terms, false);
    });
    plainer([](CaseJob& j) { return std::exchange(j.begin, 0) != 0; });
    plainer([](CaseJob& j) { return std::exchange(j.holds, kNoBars) != 0; });
    plainer([](CaseJob& j) { return std::exchange(j.array, 0) != 0; });
    plainer([](CaseJob& j) { return !j.after.empty() && (j.after.pop_back(), true); });
    plainer([](CaseJob& j) { return std::exchange(j.spec.priority, 0) != 0; });
    plainer([](CaseJob& j) { return std::exchange(j.spec.memory, 0) != 0; });
    plainer([](CaseJob& j) { return std::exchange(j.spec.accelerators, std::uint8_t{0}) != 0; });
    plainer([](CaseJob& j) { return std::exchange(j.spec.nodes, 0U) != 0; });
    plainer([](CaseJob& j) { return j.spec.licence.valid() && (forget_licences(j.spec), true); });
  }
  return smaller;
}

bool plainer_reservations(Case& drawn, const Fails<Case>& fails) {
  bool smaller = false;
  for (std::size_t i = 0; i < drawn.reservations.size(); ++i) {
    const auto plainer = [&](const auto& change) {
      smaller = with(drawn, fails, [&](Case& c) { return change(c.reservations[i]); }) || smaller;
    };
    plainer([](CaseReservation& r) { return std::exchange(r.kept, 0) != 0; });
    plainer([](CaseReservation& r) { return std::exchange(r.ahead, 0) != 0; });
    plainer([](CaseReservation& r) { return r.nodes.size() > 1 && (r.nodes.pop_back(), true); });
  }
  return smaller;
}

bool smaller_site(Case& drawn, const Fails<Case>& fails) {
  bool smaller = without_some(drawn, fails, &Case::jobs);
  smaller = without_some(drawn, fails, &Case::crashes) || smaller;
  smaller = without_some(drawn, fails, &Case::acts) || smaller;
  smaller = without_some(drawn, fails, &Case::troubles) || smaller;
  smaller = without_some(drawn, fails, &Case::jumps) || smaller;
  smaller = without_some(drawn, fails, &Case::compactions) || smaller;
  smaller = without_some(drawn, fails, &Case::licences) || smaller;
  smaller = without_some(drawn, fails, &Case::reservations) || smaller;
  smaller = without_some(drawn, fails, &Case::bad_policies) || smaller;
  smaller = without_some(drawn, fails, &Case::looks) || smaller;
  smaller = without_faults(drawn, fails) || smaller;
  smaller = plainer_reservations(drawn, fails) || smaller;
  return plainer_jobs(drawn, fails) || smaller;
}

bool without_the_last_site(FederationCase& c) {
  const auto last = static_cast<std::uint32_t>(c.sites.size()) - 1;
  const bool needed = std::any_of(c.jobs.begin(), c.jobs.end(), [&](const GlobalJob& job) { return job.home == last; });
  if (needed || last == 0) return false;
  c.sites.pop_back();
  std::erase_if(c.partitions, [&](const Partition& p) { return p.site == last; });
  return true;
}

bool calmer(FederationCase& drawn, const Fails<FederationCase>& fails) {
  using Drawn = FederationCase;
  bool smaller = with(drawn, fails, without_the_last_site);
  for (double Faults::* chance : {&Faults::request_lost, &Faults::request_doubled, &Faults::refusal_lost,
                                  &Faults::refusal_doubled, &Faults::change_doubled, &Faults::stream_broken}) {
    smaller = without(drawn, fails, &Drawn::faults, chance) || smaller;
  }
  const auto zero = [](Duration& duration) { return std::exchange(duration, Duration{0}) != Duration{0}; };
  smaller = with(drawn, fails, [&](Drawn& c) { return zero(c.faults.delay); }) || smaller;
  smaller = with(drawn, fails, [&](Drawn& c) { return zero(c.transfer); }) || smaller;
  smaller = with(drawn, fails, [&](Drawn& c) { return zero(c.rules.look); }) || smaller;
  return with(drawn, fails, [&](Drawn& c) { return std::exchange(c.rules.second_thoughts, false); }) || smaller;
}

}  // namespace

std::string failure_of(const Case& drawn) { return how_it_fails(drawn); }
std::string failure_of(const FederationCase& drawn) { return how_it_fails(drawn); }

Case shrunk(Case drawn) {
  const std::string how = failure_of(drawn);
  const Fails<Case> fails = [&](const Case& less) { return failure_of(less) == how; };
  while (smaller_site(drawn, fails)) {
  }
  return drawn;
}

FederationCase shrunk(FederationCase drawn) {
  const std::string how = failure_of(drawn);
  const Fails<FederationCase> fails = [&](const FederationCase& less) { return failure_of(less) == how; };
  for (bool smaller = true; smaller;) {
    smaller = without_some(drawn, fails, &FederationCase::jobs);
    smaller = without_some(drawn, fails, &FederationCase::partitions) || smaller;
    smaller = without_some(drawn, fails, &FederationCase::cancels) || smaller;
    smaller = calmer(drawn, fails) || smaller;
    for (std::size_t i = 0; i < drawn.sites.size(); ++i) {
      const Fails<Case> site_fails = [&](const Case& site) {
        FederationCase less = drawn;
        less.sites[i] = site;
        return fails(less);
      };
      Case site = drawn.sites[i];
      smaller = smaller_site(site, site_fails) || smaller;
      drawn.sites[i] = std::move(site);
    }
  }
  return drawn;
}

}  // namespace rota::swarm
