#include "swarm/shrink.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "swarm/world.h"

namespace rota::swarm {

std::string failure_of(const Case& drawn) {
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

namespace {

// Halves first, then single ones.
template <class Element>
bool without_some(Case& drawn, const std::string& how, std::vector<Element> Case::* list) {
  bool smaller = false;
  for (std::size_t part = std::max<std::size_t>((drawn.*list).size() / 2, 1); part > 0; part /= 2) {
    for (std::size_t from = 0; from < (drawn.*list).size();) {
      Case less = drawn;
      auto& rest = less.*list;
      const std::size_t to = std::min(from + part, rest.size());
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(from), rest.begin() + static_cast<std::ptrdiff_t>(to));
      if (failure_of(less) == how) {
        drawn = std::move(less);
        smaller = true;
      } else {
        from += part;
      }
    }
  }
  return smaller;
}

template <class Change>
bool with(Case& drawn, const std::string& how, const Change& change) {
  Case less = drawn;
  if (!change(less) || failure_of(less) != how) return false;
  drawn = std::move(less);
  return true;
}

bool without_faults(Case& drawn, const std::string& how) {
  const auto zero = [](double& chance) { return std::exchange(chance, 0.0) != 0.0; };
  bool smaller = with(drawn, how, [&](Case& c) { return zero(c.link.loses); });
  smaller = with(drawn, how, [&](Case& c) { return zero(c.link.doubles); }) || smaller;
  smaller = with(drawn, how, [&](Case& c) { return zero(c.link.delays); }) || smaller;
  smaller = with(drawn, how, [&](Case& c) { return zero(c.engine.launch_fails); }) || smaller;
  smaller = with(drawn, how, [&](Case& c) { return zero(c.engine.launch_fails_for_good); }) || smaller;
  smaller = with(drawn, how, [&](Case& c) { return zero(c.engine.boot_hangs); }) || smaller;
  smaller = with(drawn, how, [&](Case& c) { return zero(c.store.commit_fails); }) || smaller;
  return with(drawn, how, [&](Case& c) { return zero(c.store.compact_fails); }) || smaller;
}

bool plainer_jobs(Case& drawn, const std::string& how) {
  bool smaller = false;
  for (std::size_t i = 0; i < drawn.jobs.size(); ++i) {
    const auto plainer = [&](const auto& change) {
      smaller = with(drawn, how, [&](Case& c) { return change(c.jobs[i]); }) || smaller;
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
    plainer([](CaseJob& j) { return std::exchange(j.spec.licences, 0U) != 0 && (j.spec.licence = {}, true); });
  }
  return smaller;
}

}  // namespace

Case shrunk(Case drawn) {
  const std::string how = failure_of(drawn);
  for (bool smaller = true; smaller;) {
    smaller = without_some(drawn, how, &Case::jobs);
    smaller = without_some(drawn, how, &Case::crashes) || smaller;
    smaller = without_some(drawn, how, &Case::acts) || smaller;
    smaller = without_some(drawn, how, &Case::troubles) || smaller;
    smaller = without_some(drawn, how, &Case::jumps) || smaller;
    smaller = without_some(drawn, how, &Case::compactions) || smaller;
    smaller = without_faults(drawn, how) || smaller;
    smaller = plainer_jobs(drawn, how) || smaller;
  }
  return drawn;
}

}  // namespace rota::swarm
