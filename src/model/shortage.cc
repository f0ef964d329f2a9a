#include "model/shortage.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "model/never_fits.h"

namespace rota {
namespace {

constexpr std::size_t kMostHolders = 5;

const Machine& machine_of(const View& view) {
  static const Machine kCounted;
  return view.options().machine ? *view.options().machine : kCounted;
}

// Whether it asks for all processors of so many nodes, on whichever it may run.
bool wants_whole_nodes(const Machine& machine, const JobSpec& spec) {
  if (spec.nodes == 0 || machine.nodes.empty() || spec.processors % spec.nodes != 0) return false;
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    if (may_serve(machine, spec, NodeId{n}) && machine.nodes[n].processors != spec.processors / spec.nodes)
      return false;
  }
  return true;
}

std::string accelerators_of(const Machine* machine, const JobSpec& spec) {
  std::string text = amount(spec.accelerators, "accelerator");
  if (machine != nullptr && spec.accelerator_type.valid())
    text += " of type " + machine->accelerator_types[spec.accelerator_type.value];
  return text;
}

// What is free on nodes that a job may use.
struct Free {
  std::int64_t enough = 0;    // whole nodes where it needs these, else processors
  std::int64_t memories = 0;  // nodes with as much memory as it asks for
  std::int64_t accelerators = 0;
};

Free free_for(const View& view, const JobSpec& spec, bool whole) {
  const Machine& machine = machine_of(view);
  Free found;
  if (machine.nodes.empty()) found.enough = std::max<std::int64_t>(0, view.free());
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    const NodeId id{n};
    if (!view.nodes().available(id) || !view.nodes().admits(id, spec)) continue;
    const std::int64_t here = std::max<std::int64_t>(0, view.nodes().free_on(id));
    found.enough += !whole ? here : here == machine.nodes[n].processors ? 1 : 0;
    found.memories += machine.nodes[n].memory == 0 || view.nodes().per_node_on(id).memory >= spec.memory ? 1 : 0;
    found.accelerators += view.nodes().per_node_on(id).accelerators >= spec.accelerators ? 1 : 0;
  }
  return found;
}

// "no node has", "only 2 nodes had".
std::string only(std::int64_t nodes, Tense tense) {
  if (nodes == 0) return tense == Tense::present ? "no node has " : "no node had ";
  return fmt::format("only {}{}", amount(nodes, "node"),
                     tense == Tense::past ? " had "
                     : nodes == 1         ? " has "
                                          : " have ");
}

}  // namespace

std::string wished_nodes(const NodeWish& wish, const Machine& machine, std::uint32_t nodes) {
  return (nodes > 1 && wish.among.empty() ? grouped(nodes) + " " : "") + wish_text(wish, machine, nodes == 1);
}

std::string asked_text(const Machine* machine, const JobSpec& spec) {
  std::string text = amount(spec.processors, "processor");
  if (machine != nullptr && spec.node_wish)
    text += " on " + wished_nodes(*spec.node_wish, *machine, spec.nodes);
  else if (spec.nodes > 0)
    text += " on " + amount(spec.nodes, "node");
  if (spec.memory > 0) text += fmt::format(" with {} of memory", format_size(spec.memory));
  if (spec.accelerators > 0) text += (spec.memory > 0 ? " and " : " with ") + accelerators_of(machine, spec);
  if (spec.nodes != 1 && (spec.memory > 0 || spec.accelerators > 0)) text += " on each node";
  if (machine == nullptr) return text;
  if (spec.partition.valid() && machine->partitions.size() > 1)
    text += " in partition " + machine->partitions[spec.partition.value].name;
  each_licence(spec, [&](LicenceId licence, std::uint32_t count) {
    text += fmt::format(" and {} of {}", amount(count, "licence"), machine->licences[licence.value].name);
  });
  return text;
}

std::string needs_of(const View& view, const JobSpec& spec) {
  return wants_whole_nodes(machine_of(view), spec) ? amount(spec.nodes, "whole node")
                                                   : amount(spec.processors, "processor");
}

bool has_room_now(const View& view, const JobSpec& spec) {
  if (view.nodes().counted()) return view.free() >= spec.processors;
  Placement where;
  return view.nodes().find(spec, where);
}

std::string shortage(const View& view, const JobSpec& spec, bool room, Tense tense) {
  const Machine& machine = machine_of(view);
  const bool whole = wants_whole_nodes(machine, spec);
  const Free free = free_for(view, spec, whole);
  const bool all = !spec.partition.valid() || machine.partitions.size() < 2;
  const std::string are = tense == Tense::past ? (free.enough == 1 ? " was free" : " were free")
                                               : (free.enough == 1 ? " is free now" : " are free now");
  std::string out =
      grouped(free.enough) + are + (all ? "" : " in partition " + machine.partitions[spec.partition.value].name);
  if (spec.node_wish) out += " on " + wish_text(*spec.node_wish, machine, false);
  if (room || free.enough < (whole ? spec.nodes : spec.processors)) return out;
  const std::int64_t nodes = std::max(1U, spec.nodes);
  if (free.memories < nodes)
    return fmt::format("{}, but {}{} of memory free", out, only(free.memories, tense), format_size(spec.memory));
  if (free.accelerators < nodes)
    return fmt::format("{}, but {}{} free", out, only(free.accelerators, tense), accelerators_of(&machine, spec));
  return fmt::format("{}, but not {}{}", out,
                     spec.nodes > 0 ? "as many on each of " + amount(spec.nodes, "node") : std::string("on nodes"),
                     spec.memory > 0 || spec.accelerators > 0 ? " with what else it needs there" : " together");
}

std::string licence_holders(const View& view, LicenceId licence, const ShownJob& shown) {
  std::vector<JobId> jobs;
  view.running().for_each([&](const RunningEntry& entry) {
    if (licences_of(view.job(entry.job).spec, licence) > 0) jobs.push_back(entry.job);
    return true;
  });
  std::ranges::sort(jobs);
  std::string text;
  for (std::size_t i = 0; i < std::min(jobs.size(), kMostHolders); ++i) {
    text += fmt::format("{}{} holds {}", text.empty() ? "job " : ", job ", shown(jobs[i]),
                        licences_of(view.job(jobs[i]).spec, licence));
  }
  if (jobs.size() > kMostHolders)
    text += ", " + amount(static_cast<std::int64_t>(jobs.size() - kMostHolders), "more job");
  const std::int64_t elsewhere = view.licences_elsewhere(licence);
  if (elsewhere > 0)
    text += fmt::format("{}{}{} used elsewhere", text.empty() ? "" : ", ", elsewhere, elsewhere == 1 ? " is" : " are");
  return text;
}

std::string licence_shortage(const View& view, const JobSpec& spec, const ShownJob& shown) {
  std::string text;
  each_licence(spec, [&](LicenceId licence, std::uint32_t count) {
    const std::int64_t free = std::max<std::int64_t>(0, view.nodes().licences_free(licence));
    if (free >= count) return;
    const std::string holders = licence_holders(view, licence, shown);
    text += fmt::format("{}{} of the licence {}, of which {}{}{}", text.empty() ? "It needs " : " It needs ", count,
                        machine_of(view).licences[licence.value].name, free, free == 1 ? " is free" : " are free",
                        holders.empty() ? "." : fmt::format(": {}.", holders));
  });
  return text;
}

std::string lacking(const View& view, const JobSpec& spec) {
  if (view.nodes().counted()) return "";
  std::string licences;
  each_licence(spec, [&](LicenceId licence, std::uint32_t count) {
    const std::int64_t free = std::max<std::int64_t>(0, view.nodes().licences_free(licence));
    if (free >= count) return;
    licences += fmt::format("{}{} of {} ({}{}", licences.empty() ? "" : " and ", amount(count, "licence"),
                            machine_of(view).licences[licence.value].name, grouped(free),
                            (free == 1 ? " was free)" : " were free)"));
  });
  if (!licences.empty() || has_room_now(view, spec)) return licences;
  return fmt::format("{} ({})", needs_of(view, spec), shortage(view, spec, false, Tense::past));
}

}  // namespace rota
