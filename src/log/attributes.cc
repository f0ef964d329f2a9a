#include "log/attributes.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace rota::log {
namespace {

std::unexpected<Error> wrong(const AttributeTable& table, std::int64_t line, const std::string& what) {
  return fail("{}:{}: {}", table.shown(), line, what);
}

// The place of each name among those that the machine knows.
template <class Id>
Result<std::vector<Id>> looked_up(const AttributeTable& table, const std::vector<AttributeTable::Name>& names,
                                  const std::vector<std::string_view>& known, const char* kind) {
  std::vector<Id> ids;
  for (const AttributeTable::Name& name : names) {
    const auto found = std::ranges::find(known, name.text);
    if (found == known.end()) {
      const auto near = nearest(name.text, known);
      return wrong(table, name.line,
                   fmt::format("the cluster has no {} {}{}", kind, quoted(name.text),
                               near.empty() ? "." : fmt::format("; did you mean {}?", quoted(near))));
    }
    ids.push_back(Id{static_cast<decltype(Id::value)>(found - known.begin())});
  }
  return ids;
}

template <class Thing>
std::vector<std::string_view> names_of(const std::vector<Thing>& all) {
  std::vector<std::string_view> names;
  names.reserve(all.size());
  for (const Thing& thing : all) names.push_back(thing.name);
  return names;
}

// The error of the first line that asks for what the machine has none of, if any does.
Result<void> check_against(const AttributeTable& table, const Machine& machine) {
  if (!table.licences().empty() && machine.licences.empty()) {
    return wrong(table, table.licences().front().line,
                 "jobs ask for licences, and the cluster has none. Give a --cluster file with `licences`.");
  }
  if (table.line_with_many_licences() > 0) {
    return wrong(
        table, table.line_with_many_licences(),
        fmt::format(
            "a job may hold licences of {} kinds at most, and {} of each where there are several. Leave some out.",
            kMostLicenceKinds, grouped(MoreLicences::kMostCount)));
  }
  if (!table.sites().empty() && machine.sites.empty()) {
    return wrong(table, table.sites().front().line,
                 "jobs name a site, and the cluster has none. Give a --cluster file with [[sites]].");
  }
  if (table.line_with_tasks() > 0 && machine.nodes.empty()) {
    return wrong(table, table.line_with_tasks(),
                 "jobs have tasks, and processors are only counted. Give a --cluster file with [[nodes]].");
  }
  if (table.line_with_accelerators() > 0 && !machine.has_accelerators()) {
    return wrong(table, table.line_with_accelerators(),
                 "jobs ask for accelerators, and the cluster has none. Give a --cluster file with `accelerators`.");
  }
  return {};
}

Result<std::vector<SharedNodeWish>> wishes_on(const Machine& machine, const AttributeTable& table) {
  std::vector<SharedNodeWish> wishes;
  for (const auto& [texts, line] : table.wishes()) {
    if (machine.nodes.empty())
      return wrong(table, line,
                   "jobs ask for features, nodes or a reservation, and processors are only counted. Give a --cluster "
                   "file with [[nodes]].");
    if (!machine.sites.empty() && (!texts.among.empty() || !texts.without.empty()))
      return wrong(table, line,
                   "jobs name nodes, and the cluster has several sites. Leave out on_nodes and not_on_nodes.");
    auto wish = node_wish_of(texts, machine);
    if (!wish) return wrong(table, line, wish.error().message);
    wishes.push_back(std::move(*wish));
  }
  return wishes;
}

}  // namespace

Result<Attributes> Attributes::match(std::shared_ptr<const AttributeTable> table, const Machine* machine) {
  static const Machine nothing;
  const Machine& described = machine != nullptr ? *machine : nothing;
  TRY(check_against(*table, described));
  auto licences = TRY(looked_up<LicenceId>(*table, table->licences(), names_of(described.licences), "licence"));
  auto sites = TRY(looked_up<SiteId>(*table, table->sites(), names_of(described.sites), "site"));
  auto types = TRY(looked_up<AcceleratorTypeId>(
      *table, table->accelerator_types(), {described.accelerator_types.begin(), described.accelerator_types.end()},
      "accelerators of type"));
  auto wishes = TRY(wishes_on(described, *table));
  Attributes matched;
  matched.wishes_ = std::move(wishes);
  matched.table_ = std::move(table);
  matched.licences_ = std::move(licences);
  matched.accelerator_types_ = std::move(types);
  matched.sites_ = std::move(sites);
  return matched;
}

Result<Attributes> Attributes::parse(std::string_view text, const std::string& shown, const Machine* machine) {
  auto table = TRY(AttributeTable::parse(text, shown));
  return match(std::make_shared<const AttributeTable>(std::move(table)), machine);
}

Result<Attributes> Attributes::read(const std::string& path, const Machine* machine) {
  auto table = TRY(AttributeTable::read(path));
  return match(std::make_shared<const AttributeTable>(std::move(table)), machine);
}

SiteId Attributes::site_of(std::int64_t job) const {
  const std::uint32_t site = table_->of(job).site;
  return site == AttributeTable::kNone ? SiteId{} : sites_[site];
}

void Attributes::give(JobSpec& spec) const {
  const AttributeTable::Row& row = table_->of(spec.number);
  if (row.nodes > 0) spec.nodes = row.nodes;
  if (row.memory > 0) spec.memory = row.memory;
  std::vector<LicenceUse> kinds;
  for (const auto& [name, count] : row.licences) kinds.push_back({licences_[name], count});
  CHECK(set_licences(spec, std::move(kinds)), "the table was matched, and no job asks for too many");
  spec.accelerators = row.accelerators;
  const bool any_type = row.accelerator_type == AttributeTable::kNone;
  spec.accelerator_type = any_type ? AcceleratorTypeId{} : accelerator_types_[row.accelerator_type];
  spec.node_wish = row.wish == AttributeTable::kNone ? nullptr : wishes_[row.wish];
  if (spec.node_wish && spec.nodes == 0) spec.nodes = static_cast<std::uint32_t>(spec.node_wish->among.size());
  spec.restart = row.restart;
  spec.restart_cost = row.restart_cost;
  spec.priority += row.priority;
}

}  // namespace rota::log
