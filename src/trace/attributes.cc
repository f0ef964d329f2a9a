#include "trace/attributes.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace rota::trace {
namespace {

std::unexpected<Error> wrong(const AttributeTable& table, std::int64_t line, const std::string& what) {
  return fail(table.shown() + ":" + std::to_string(line) + ": " + what);
}

// The place of each name among those of the machine.
template <class Id, class Thing>
Result<std::vector<Id>> looked_up(const AttributeTable& table, const std::vector<AttributeTable::Name>& names,
                                  const std::vector<Thing>& all, const char* kind) {
  std::vector<Id> ids;
  for (const AttributeTable::Name& name : names) {
    const auto found = std::ranges::find(all, name.text, &Thing::name);
    if (found == all.end()) {
      std::vector<std::string_view> known;
      for (const Thing& thing : all) known.push_back(thing.name);
      const auto near = nearest(name.text, known);
      return wrong(table, name.line,
                   "the cluster has no " + std::string(kind) + " " + quoted(name.text) +
                       (near.empty() ? "." : "; did you mean " + quoted(near) + "?"));
    }
    ids.push_back(Id{static_cast<std::uint32_t>(found - all.begin())});
  }
  return ids;
}

}  // namespace

Result<Attributes> Attributes::match(std::shared_ptr<const AttributeTable> table, const Machine* machine) {
  static const Machine nothing;
  const Machine& its = machine != nullptr ? *machine : nothing;
  if (!table->licences().empty() && its.licences.empty()) {
    return wrong(*table, table->licences().front().line,
                 "jobs ask for licences, and the cluster has none. Give a --cluster file with `licences`.");
  }
  if (!table->sites().empty() && its.sites.empty()) {
    return wrong(*table, table->sites().front().line,
                 "jobs name a site, and the cluster has none. Give a --cluster file with [[sites]].");
  }
  if (table->line_with_tasks() > 0 && its.nodes.empty()) {
    return wrong(*table, table->line_with_tasks(),
                 "jobs have tasks, and processors are only counted. Give a --cluster file with [[nodes]].");
  }
  auto licences = looked_up<LicenceId>(*table, table->licences(), its.licences, "licence");
  if (!licences) return std::unexpected(licences.error());
  auto sites = looked_up<SiteId>(*table, table->sites(), its.sites, "site");
  if (!sites) return std::unexpected(sites.error());
  Attributes matched;
  matched.table_ = std::move(table);
  matched.licences_ = std::move(*licences);
  matched.sites_ = std::move(*sites);
  return matched;
}

Result<Attributes> Attributes::parse(std::string_view text, const std::string& shown, const Machine* machine) {
  auto table = AttributeTable::parse(text, shown);
  if (!table) return std::unexpected(table.error());
  return match(std::make_shared<const AttributeTable>(std::move(*table)), machine);
}

Result<Attributes> Attributes::read(const std::string& path, const Machine* machine) {
  auto table = AttributeTable::read(path);
  if (!table) return std::unexpected(table.error());
  return match(std::make_shared<const AttributeTable>(std::move(*table)), machine);
}

SiteId Attributes::site_of(std::int64_t job) const {
  const std::uint32_t site = table_->of(job).site;
  return site == AttributeTable::kNone ? SiteId{} : sites_[site];
}

void Attributes::give(JobSpec& spec) const {
  const AttributeTable::Said& said = table_->of(spec.number);
  if (said.nodes > 0) spec.nodes = said.nodes;
  if (said.memory > 0) spec.memory = said.memory;
  spec.licence = said.licence == AttributeTable::kNone ? LicenceId{} : licences_[said.licence];
  spec.licences = said.licences;
  spec.restart = said.restart;
  spec.restart_cost = said.restart_cost;
  spec.priority += said.priority;
}

}  // namespace rota::trace
