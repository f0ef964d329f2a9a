#include "site/cluster_sites.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/saturate.h"
#include "base/text.h"
#include "model/licence_use.h"
#include "site/cluster_prices.h"

namespace rota::site {
namespace {

constexpr std::int64_t kMostLicences = 2'147'483'647;
constexpr std::size_t kMostSites = 64;

std::unexpected<Error> wrong(const ClusterDraft& draft, std::uint32_t line, const std::string& what) {
  return fail("{}:{}: {}", draft.shown, line, what);
}

std::size_t site_named(const ClusterDraft& draft, std::string_view name) {
  const auto at = std::ranges::find(draft.sites, name, &SiteEntry::name);
  return static_cast<std::size_t>(at - draft.sites.begin());
}

Result<void> check_node_tables(const ClusterDraft& draft) {
  for (const NodesEntry& entry : draft.nodes) {
    const std::uint32_t line = entry.line_of("site");
    if (line == 0) {
      return wrong(
          draft, entry.line,
          "these nodes do not say at which site they are. Write `site` with the name of one of the [[sites]].");
    }
    if (site_named(draft, entry.site) < draft.sites.size()) continue;
    std::vector<std::string_view> known;
    known.reserve(draft.sites.size());
    for (const SiteEntry& site : draft.sites) known.push_back(site.name);
    const std::string_view near = nearest(entry.site, known);
    return wrong(draft, line,
                 fmt::format("there is no site {} among the [[sites]].{}", quoted(entry.site),
                             near.empty() ? "" : fmt::format(" Did you mean {}?", quoted(near))));
  }
  return {};
}

Result<void> check_name(const ClusterDraft& draft, std::size_t s) {
  const SiteEntry& site = draft.sites[s];
  if (const std::size_t first = site_named(draft, site.name); first != s) {
    return wrong(draft, site.line_of("name"),
                 fmt::format("site {} is described twice; the first time in line {}.", quoted(site.name),
                             draft.sites[first].line_of("name")));
  }
  return {};
}

Result<void> check_site(const ClusterDraft& draft, const SiteEntry& site) {
  if (draft.nodes.empty()) {
    if (site.processors == 0) {
      return wrong(
          draft, site.line,
          fmt::format(
              "site {} has no processors. Describe its nodes in [[nodes]] tables, or write `processors = 64` here.",
              quoted(site.name)));
    }
    if (const std::uint32_t line = site.line_of("licences"); line != 0) {
      return wrong(draft, line,
                   "`licences` goes with nodes, and these sites only count processors. Describe them in "
                   "[[nodes]] tables.");
    }
    return {};
  }
  if (const std::uint32_t line = site.line_of("processors"); line != 0) {
    return wrong(draft, line,
                 "`processors` counts interchangeable processors and there are [[nodes]] too. Describe "
                 "all sites in one of the two ways.");
  }
  if (std::ranges::find(draft.nodes, site.name, &NodesEntry::site) == draft.nodes.end()) {
    return wrong(draft, site.line,
                 fmt::format("site {} has no nodes. Name it as `site` in a [[nodes]] table, or leave it out.",
                             quoted(site.name)));
  }
  return {};
}

// One site of the whole machine.
class Part {
 public:
  Part(const Machine& whole, const SiteEntry& site, std::size_t place) : whole_(whole) {
    part_.boot_seed = whole.boot_seed + static_cast<std::int64_t>(place);  // other boots fail here
    part_.name = site.name;
    part_.bandwidth = site.bandwidth;
    part_.processors = site.processors;
    part_.co2 = site.co2 < 0 ? whole.co2 : site.co2;
    part_.accelerator_types = whole.accelerator_types;
    part_.features = whole.features;
  }

  void add_node(NodeId id) {
    Node node = whole_.nodes[id.value];
    const auto [at, fresh] = racks_.try_emplace(node.rack, static_cast<std::uint32_t>(part_.racks.size()));
    if (fresh) part_.racks.push_back(whole_.racks[node.rack.value]);
    node.rack = RackId{at->second};
    node.partitions.clear();
    here_[id] = NodeId{static_cast<std::uint32_t>(part_.nodes.size())};
    part_.processors += node.processors;
    part_.memory = saturated_sum(part_.memory, node.memory);
    part_.accelerators += node.accelerators;
    part_.nodes.push_back(std::move(node));
  }

  Machine finish() {
    for (std::uint32_t p = 0; p < whole_.partitions.size(); ++p) add_partition(PartitionId{p});
    part_.default_partition = default_partition();
    return std::move(part_);
  }

 private:
  void add_partition(PartitionId id) {
    Partition partition = whole_.partitions[id.value];
    if (whole_.nodes.empty()) {
      partition.processors = part_.processors;
    } else {
      partition.nodes.clear();
      partition.processors = 0;
    }
    for (const NodeId node : whole_.partitions[id.value].nodes) {
      const auto here = here_.find(node);
      if (here == here_.end()) continue;
      Node& own = part_.nodes[here->second.value];
      own.partitions.push_back(id);
      partition.nodes.push_back(here->second);
      partition.processors += own.processors;
    }
    part_.partitions.push_back(std::move(partition));
  }

  // That of the whole if it is here, else the first that is.
  PartitionId default_partition() const {
    if (part_.partitions.empty()) return {};
    if (part_.partitions[whole_.default_partition.value].processors > 0) return whole_.default_partition;
    const auto& all = part_.partitions;
    const auto first = std::ranges::find_if(all, [](const Partition& p) { return p.processors > 0; });
    return PartitionId{static_cast<std::uint32_t>(first - all.begin())};
  }

  const Machine& whole_;
  Machine part_;
  std::map<RackId, std::uint32_t> racks_;
  std::map<NodeId, NodeId> here_;
};

Result<void> set_prices(const ClusterDraft& draft, const SiteEntry& entry, const Machine& whole, Machine& site) {
  auto tariff = TRY(tariff_of(draft, entry, whole.tariff));
  site.tariff = std::move(tariff);
  if (!site.tariff.has_steps()) site.price = entry.price < 0 ? whole.price : entry.price;
  return {};
}

// So that jobs can name them, whichever site has them.
void add_to_all(std::vector<Licence>& all, const Licence& licence) {
  const auto same = std::ranges::find(all, licence.name, &Licence::name);
  if (same == all.end()) {
    all.push_back(licence);
  } else {
    same->count += licence.count;
  }
}

std::unexpected<Error> too_many_licences() {
  return fail("`licences` names more than {} kinds, which are the most.", grouped(MoreLicences::kKinds));
}

// All of them in the same order; those that a site does not have it has none of.
std::vector<Licence> counted_in(const std::vector<Licence>& own, const std::vector<Licence>& all) {
  std::vector<Licence> counted;
  for (const Licence& each : all) {
    const auto here = std::ranges::find(own, each.name, &Licence::name);
    counted.push_back({each.name, here == own.end() ? 0 : here->count});
  }
  return counted;
}

}  // namespace

Result<std::vector<Licence>> parse_licences(std::string_view text) {
  std::vector<Licence> licences;
  for (const std::string_view piece : split(text, ',')) {
    const auto colon = piece.find(':');
    const std::string_view name = trimmed(piece.substr(0, colon));
    const auto count =
        colon == std::string_view::npos ? Result<std::int64_t>(0) : parse_integer(trimmed(piece.substr(colon + 1)));
    if (name.empty() || !count || *count < 1 || *count > kMostLicences) {
      return fail("`licences` takes names with how many there are, such as \"matlab:4,fluent:12\", not {}.",
                  quoted(piece));
    }
    if (std::ranges::find(licences, name, &Licence::name) != licences.end()) {
      return fail("licence {} is there twice.", quoted(name));
    }
    licences.push_back({std::string(name), *count});
  }
  if (licences.size() > MoreLicences::kKinds) return too_many_licences();
  return licences;
}

Result<void> check_sites(const ClusterDraft& draft) {
  if (draft.sites.empty()) {
    for (const NodesEntry& entry : draft.nodes) {
      if (const std::uint32_t line = entry.line_of("site"); line != 0) {
        return wrong(draft, line,
                     "there are no [[sites]], so nodes cannot be at one. Describe the site, or remove "
                     "`site`.");
      }
    }
    return {};
  }
  if (draft.sites.size() > kMostSites) {
    return wrong(draft, draft.sites.back().line, fmt::format("there are more than {} sites.", kMostSites));
  }
  for (const char* key : {"processors", "licences"}) {
    if (const std::uint32_t line = draft.top.line_of(key); line != 0) {
      return wrong(draft, line, fmt::format("there are [[sites]], so `{}` belongs into one of them.", key));
    }
  }
  for (std::size_t s = 0; s < draft.sites.size(); ++s) {
    if (auto ok = check_name(draft, s); !ok) return ok;
  }
  if (auto ok = check_node_tables(draft); !ok) return ok;
  for (const SiteEntry& site : draft.sites) {
    if (auto ok = check_site(draft, site); !ok) return ok;
  }
  return {};
}

Result<void> split_into_sites(const ClusterDraft& draft, const std::vector<std::size_t>& table_of, Machine& whole) {
  std::vector<Part> parts;
  for (const SiteEntry& site : draft.sites) {
    parts.emplace_back(whole, site, parts.size());
    if (draft.nodes.empty() && site.processors > kMostProcessors - whole.processors) {
      return wrong(draft, site.line_of("processors"),
                   fmt::format("with this site there are more than {} processors, which is more than Rota can count.",
                               grouped(kMostProcessors)));
    }
    if (draft.nodes.empty()) whole.processors += site.processors;
  }
  for (std::uint32_t id = 0; id < whole.nodes.size(); ++id) {
    parts[site_named(draft, draft.nodes[table_of[id]].site)].add_node(NodeId{id});
  }
  std::vector<Machine> sites;
  for (std::size_t s = 0; s < parts.size(); ++s) {
    Machine site = parts[s].finish();
    if (auto ok = set_prices(draft, draft.sites[s], whole, site); !ok) return ok;
    if (const std::uint32_t line = draft.sites[s].line_of("licences"); line != 0) {
      auto licences = parse_licences(draft.sites[s].licences);
      if (!licences) return wrong(draft, line, licences.error().message);
      site.licences = std::move(*licences);
    }
    for (const Licence& licence : site.licences) add_to_all(whole.licences, licence);
    if (whole.licences.size() > MoreLicences::kKinds)
      return wrong(draft, draft.sites[s].line_of("licences"), too_many_licences().error().message);
    sites.push_back(std::move(site));
  }
  for (Machine& site : sites) site.licences = counted_in(site.licences, whole.licences);
  if (draft.nodes.empty()) {
    for (Partition& partition : whole.partitions) partition.processors = whole.processors;
  }
  whole.sites = std::move(sites);
  return {};
}

}  // namespace rota::site
