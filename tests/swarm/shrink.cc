#include "swarm/shrink.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "swarm/world.h"

namespace rota::swarm {

bool fails(const Case& drawn) {
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO);
    alarm(20);  // a loop that never ends is a failure too
    _exit(run_case(drawn).failure ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

namespace {

// Halves first, then single ones.
template <class Element>
bool without_some(Case& drawn, std::vector<Element> Case::* list) {
  bool smaller = false;
  for (std::size_t part = std::max<std::size_t>((drawn.*list).size() / 2, 1); part > 0; part /= 2) {
    for (std::size_t from = 0; from < (drawn.*list).size();) {
      Case less = drawn;
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

template <class Change>
bool with(Case& drawn, const Change& change) {
  Case less = drawn;
  if (!change(less) || !fails(less)) return false;
  drawn = std::move(less);
  return true;
}

bool without_faults(Case& drawn) {
  const auto zero = [](double& chance) { return std::exchange(chance, 0.0) != 0.0; };
  bool smaller = with(drawn, [&](Case& c) { return zero(c.link.loses); });
  smaller = with(drawn, [&](Case& c) { return zero(c.link.doubles); }) || smaller;
  smaller = with(drawn, [&](Case& c) { return zero(c.link.delays); }) || smaller;
  smaller = with(drawn, [&](Case& c) { return zero(c.engine.launch_fails); }) || smaller;
  smaller = with(drawn, [&](Case& c) { return zero(c.engine.launch_fails_for_good); }) || smaller;
  smaller = with(drawn, [&](Case& c) { return zero(c.engine.boot_hangs); }) || smaller;
  smaller = with(drawn, [&](Case& c) { return zero(c.store.commit_fails); }) || smaller;
  return with(drawn, [&](Case& c) { return zero(c.store.compact_fails); }) || smaller;
}

bool plainer_jobs(Case& drawn) {
  bool smaller = false;
  for (std::size_t i = 0; i < drawn.jobs.size(); ++i) {
    const auto plainer = [&](const auto& change) {
      smaller = with(drawn, [&](Case& c) { return change(c.jobs[i]); }) || smaller;
    };
    plainer([](CaseJob& j) { return std::exchange(j.has_terms, false); });
    plainer([](CaseJob& j) { return std::exchange(j.spec.priority, 0) != 0; });
    plainer([](CaseJob& j) { return std::exchange(j.spec.memory, 0) != 0; });
    plainer([](CaseJob& j) { return std::exchange(j.spec.nodes, 0U) != 0; });
    plainer([](CaseJob& j) { return std::exchange(j.spec.licences, 0U) != 0 && (j.spec.licence = {}, true); });
  }
  return smaller;
}

}  // namespace

Case shrunk(Case drawn) {
  for (bool smaller = true; smaller;) {
    smaller = without_some(drawn, &Case::jobs);
    smaller = without_some(drawn, &Case::crashes) || smaller;
    smaller = without_some(drawn, &Case::acts) || smaller;
    smaller = without_some(drawn, &Case::troubles) || smaller;
    smaller = without_some(drawn, &Case::jumps) || smaller;
    smaller = without_some(drawn, &Case::compactions) || smaller;
    smaller = without_faults(drawn) || smaller;
    smaller = plainer_jobs(drawn) || smaller;
  }
  return drawn;
}

}  // namespace rota::swarm
