#include "serve/cluster_change.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace rota::serve {
namespace {

constexpr const char* kLeave = "leave it in the file and take it out of use by `rota nodes down ";

class Comparison {
 public:
  Comparison(const Machine& before, const Machine& now) : before_(before), now_(now) {}

  ClusterChange made() {
    if (before_.nodes.empty() != now_.nodes.empty()) {
      refuse(before_.nodes.empty() ? "nodes are described where only processors were counted"
                                   : "processors are only counted where nodes were described");
    }
    nodes();
    named(before_.partitions, now_.partitions, "partition");
    named(before_.licences, now_.licences, "licence");
    for (std::size_t i = 0; i < std::min(before_.licences.size(), now_.licences.size()); ++i)
      licence(before_.licences[i], now_.licences[i]);
    if (now_.nodes.empty()) amounts("the cluster", "processor", before_.processors, now_.processors);
    const auto& types = before_.accelerator_types;
    if (!std::ranges::equal(
            types, std::vector(now_.accelerator_types.begin(),
                               now_.accelerator_types.begin() +
                                   static_cast<std::ptrdiff_t>(std::min(types.size(), now_.accelerator_types.size())))))
      refuse("types of accelerators are gone or come in another order");
    return std::move(change_);
  }

 private:
  void refuse(const std::string& why) {
    if (change_.refused.empty()) change_.refused = why;  // one at a time is enough to mend
  }
  void take(const std::string& what) { change_.taken += (change_.taken.empty() ? "" : ", ") + what; }

  void nodes() {
    for (std::size_t n = 0; n < before_.nodes.size(); ++n) {
      const Node& old = before_.nodes[n];
      const auto found = std::ranges::find(now_.nodes, old.name, &Node::name);
      if (found == now_.nodes.end())
        return refuse(fmt::format("node {} is gone: {}{} --reason gone`", old.name, kLeave, old.name));
      if (found != now_.nodes.begin() + static_cast<std::ptrdiff_t>(n))
        return refuse(fmt::format(
            "node {} stands in another place: keep the order, and put new nodes behind the others", old.name));
      node(old, *found);
    }
    std::vector<std::string> added;
    for (std::size_t n = before_.nodes.size(); n < now_.nodes.size(); ++n) added.push_back(now_.nodes[n].name);
    if (!added.empty()) take(format_host_list(added) + (added.size() == 1 ? " is new" : " are new"));
  }

  void node(const Node& old, const Node& now) {
    const std::string name = "node " + old.name;
    amounts(name, "processor", old.processors, now.processors);
    if (old.memory == 0 || now.memory == 0) {
      if (old.memory != now.memory) refuse(name + " tells its memory where it did not, or no longer does");
    } else if (now.memory != old.memory) {
      sized(name, fmt::format("{} of memory instead of {}", format_size(now.memory), format_size(old.memory)),
            now.memory < old.memory);
    }
    amounts(name, "accelerator", old.accelerators, now.accelerators);
    if (old.accelerators > 0 && now.accelerators > 0 && old.accelerator_type != now.accelerator_type)
      refuse(name + " has accelerators of another type");
    if (old.partitions != now.partitions) take(name + " is in other partitions");
  }

  void licence(const Licence& old, const Licence& now) {
    const std::string what = "licence " + now.name;
    if (now.count >= old.count) return amounts(what, "", old.count, now.count);
    refuse(
        fmt::format("{} has {} instead of {}: what runs, or ran, may hold more than that; leave {} in the file, and "
                    "have a `licence_command` say how many there are, as with \"echo {} {} 0\"",
                    what, grouped(now.count), grouped(old.count), grouped(old.count), now.name, now.count));
  }

  void amounts(const std::string& of, const char* what, std::int64_t old, std::int64_t now) {
    if (old == now) return;
    const std::string unit = *what == '\0' ? grouped(now) : amount(now, what);
    sized(of, fmt::format("{} instead of {}", unit, grouped(old)), now < old);
  }

  void sized(const std::string& of, const std::string& what, bool less) {
    if (less) return refuse(fmt::format("{} has {}: what runs, or ran, may hold more than that", of, what));
    take(fmt::format("{} has {}", of, what));
  }

  template <class Named>
  void named(const std::vector<Named>& old, const std::vector<Named>& now, const std::string& what) {
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (i >= now.size() || now[i].name != old[i].name)
        return refuse(fmt::format("{} {} is gone or stands in another place: keep all that there were, in their order",
                                  what, old[i].name));
    }
    for (std::size_t i = old.size(); i < now.size(); ++i) take(fmt::format("{} {} is new", what, now[i].name));
  }

  const Machine& before_;
  const Machine& now_;
  ClusterChange change_;
};

}  // namespace

ClusterChange cluster_change(const Machine& before, const Machine& now) { return Comparison(before, now).made(); }

}  // namespace rota::serve
