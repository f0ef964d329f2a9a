#include "model/node_wish.h"

#include <fmt/core.h>

#include "base/text.h"
#include "model/job.h"
#include "model/machine.h"

namespace rota {
namespace {

constexpr std::string_view kSigns = "&|,()[]*{}";
constexpr std::size_t kMostAlternatives = 64;
constexpr std::size_t kDeepest = 32;  // parentheses in parentheses

using Masks = std::vector<std::uint64_t>;

bool is_part(std::uint64_t part, std::uint64_t of) { return (part & of) == part; }

// Ascending, and none that asks for all that another one does.
Masks without_needless(Masks masks) {
  std::ranges::sort(masks);
  masks.erase(std::ranges::unique(masks).begin(), masks.end());
  const Masks all = masks;
  std::erase_if(masks, [&](std::uint64_t mask) {
    return std::ranges::any_of(all, [&](std::uint64_t less) { return less != mask && is_part(less, mask); });
  });
  return masks;
}

// Names of which one is the nearest to another, for a sentence.
std::string known_text(std::string_view name, const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  if (const auto near = nearest(name, names); !near.empty()) return fmt::format("did you mean {}?", quoted(near));
  if (known.empty()) return "nodes have none here.";
  std::string all;
  for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
  return "there are " + all + ".";
}

class Expression {
 public:
  // With `any` names that are not known are added.
  Expression(std::string_view text, std::vector<std::string> known, bool any = false)
      : text_(text), rest_(trimmed(text)), known_(std::move(known)), any_(any) {}

  Result<Masks> whole() {
    auto masks = TRY(terms());
    if (rest_.starts_with(')')) return wrong("a parenthesis is closed that was not opened");
    if (!rest_.empty()) return wrong("an & or a | is missing");
    return masks;
  }

 private:
  std::unexpected<Error> wrong(std::string_view why) const {
    return fail("{} is no wish for features: {}. Write it such as avx512, avx512&ib or (a|b)&c.", quoted(text_), why);
  }

  bool skip_sign(char sign) {
    rest_ = trimmed(rest_);
    if (rest_.empty() || rest_.front() != sign) return false;
    rest_.remove_prefix(1);
    return true;
  }

  Result<Masks> terms() {
    Masks left = TRY(term());
    for (;;) {
      const bool both = skip_sign('&') || skip_sign(',');
      if (!both && !skip_sign('|')) return left;
      const Masks right = TRY(term());
      if (both) {
        Masks product;
        for (const std::uint64_t a : left)
          for (const std::uint64_t b : right) product.push_back(a | b);
        left = std::move(product);
      } else {
        left.insert(left.end(), right.begin(), right.end());
      }
      left = without_needless(std::move(left));
      if (left.size() > kMostAlternatives)
        return wrong(fmt::format("it comes to more than {} alternatives", kMostAlternatives));
    }
  }

  Result<Masks> term() {
    if (skip_sign('[')) return wrong("that all nodes have the same one of several, by [ ], cannot be asked for");
    if (skip_sign('(')) {
      if (++depth_ > kDeepest) return wrong("there are too many parentheses in one another");
      auto inside = TRY(terms());
      --depth_;
      if (!skip_sign(')')) return wrong("a parenthesis is not closed");
      if (skip_sign('*')) return count();
      return inside;
    }
    const std::size_t end = std::min(rest_.find_first_of(kSigns), rest_.size());
    const std::string_view name = trimmed(rest_.substr(0, end));
    if (name.empty()) return wrong("a feature is missing");
    rest_.remove_prefix(end);
    if (skip_sign('*')) return count();
    if (any_) return Masks{TRY(add_features(name, known_))};
    const auto found = std::ranges::find(known_, name);
    if (found == known_.end()) return fail("no node has the feature {}; {}", quoted(name), known_text(name, known_));
    return Masks{std::uint64_t{1} << (found - known_.begin())};
  }

  std::unexpected<Error> count() const {
    return wrong("how many of its nodes are to have a feature, by *, cannot be asked for");
  }

  std::string_view text_, rest_;
  std::vector<std::string> known_;
  bool any_;
  std::size_t depth_ = 0;
};

bool rises(const std::vector<NodeId>& nodes, std::size_t count) {
  const auto not_less = [](NodeId a, NodeId b) { return a >= b; };
  return std::ranges::adjacent_find(nodes, not_less) == nodes.end() && (nodes.empty() || nodes.back().value < count);
}

std::string all_of(std::uint64_t mask, const Machine& machine, std::string_view between) {
  std::string text;
  for (std::size_t f = 0; f < machine.features.size(); ++f) {
    if ((mask >> f & 1U) != 0) text += (text.empty() ? std::string() : std::string(between)) + machine.features[f];
  }
  return text;
}

}  // namespace

std::optional<std::string> senseless_wish(const JobSpec& spec, const Machine& machine) {
  const NodeWish& wish = *spec.node_wish;
  const std::size_t known = machine.features.size();
  const std::uint64_t all = known >= kMostFeatures ? UINT64_MAX : (std::uint64_t{1} << known) - 1;
  const auto possible = [&](std::uint64_t mask) { return mask != 0 && is_part(mask, all); };
  if (wish.reservation.valid() && machine.nodes.empty())
    return "asks for a reservation, and processors are only counted here";
  const bool there = !wish.empty() && std::ranges::all_of(wish.features, possible) &&
                     std::ranges::adjacent_find(wish.features, std::greater_equal<>()) == wish.features.end() &&
                     rises(wish.among, machine.nodes.size()) && rises(wish.without, machine.nodes.size());
  if (!there) return "asks for features or nodes that the cluster does not have";
  const std::size_t named = wish.among.size();
  if (named > 0 && (spec.nodes != named || spec.processors < named))
    return "names nodes, and asks for fewer or more of them, or not for a processor on each";
  return std::nullopt;
}

Result<std::vector<std::uint64_t>> parse_features(std::string_view text, const Machine& machine) {
  return Expression(text, machine.features).whole();
}

Result<void> check_features(std::string_view text) {
  TRY(Expression(text, {}, true).whole());
  return {};
}

std::string with_features_renamed(std::string_view text, const std::function<std::string(std::string_view)>& name) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(kSigns), text.size());
    if (const std::string_view each = trimmed(text.substr(0, end)); !each.empty()) out += name(each);
    if (end < text.size()) out += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

Result<std::vector<NodeId>> parse_node_names(std::string_view list, const Machine& machine) {
  std::vector<std::string> names = TRY(parse_host_list(list));
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  std::vector<NodeId> nodes;
  std::vector<bool> found(names.size());
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    const auto at = std::ranges::lower_bound(names, machine.nodes[n].name);
    if (at == names.end() || *at != machine.nodes[n].name || machine.nodes[n].has_gone()) continue;
    nodes.push_back(NodeId{n});
    found[static_cast<std::size_t>(at - names.begin())] = true;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!found[i]) return fail("the cluster has no node {}.", quoted(names[i]));
  }
  return nodes;
}

Result<SharedNodeWish> node_wish_of(const NodeWishTexts& texts, const Machine& machine) {
  if (texts.empty()) return nullptr;
  if (machine.nodes.empty()) return fail("jobs ask for particular nodes, and processors are only counted here.");
  NodeWish wish;
  if (!texts.features.empty()) wish.features = TRY(parse_features(texts.features, machine));
  if (!texts.among.empty()) wish.among = TRY(parse_node_names(texts.among, machine));
  if (!texts.without.empty()) wish.without = TRY(parse_node_names(texts.without, machine));
  if (!texts.reservation.empty()) {
    const auto found = std::ranges::find(machine.reservation_names, texts.reservation);
    if (found == machine.reservation_names.end())
      return fail("the cluster has no reservation named {}.", quoted(texts.reservation));
    wish.reservation = ReservationId{static_cast<std::uint32_t>(found - machine.reservation_names.begin())};
  }
  return std::make_shared<const NodeWish>(std::move(wish));
}

Result<void> set_node_wish(JobSpec& spec, SharedNodeWish wish, const Machine& machine) {
  const auto named = static_cast<std::uint32_t>(wish ? wish->among.size() : 0);
  if (named > 0 && spec.nodes == 0) spec.nodes = named;
  if (named > 0 && spec.nodes != named)
    return fail("the job asks for {} and names {}; it gets all that it names, and no others.",
                amount(spec.nodes, "node"), names_text(wish->among, machine));
  if (spec.processors < named)
    return fail("the job asks for {} and names {}; it needs one on each.", amount(spec.processors, "processor"),
                amount(named, "node"));
  spec.node_wish = std::move(wish);
  return {};
}

void run_within(JobSpec& spec, ReservationId reservation) {
  NodeWish wish = spec.node_wish ? *spec.node_wish : NodeWish{};
  wish.reservation = reservation;
  spec.node_wish = wish.empty() ? nullptr : std::make_shared<const NodeWish>(std::move(wish));
}

std::string features_text(const std::vector<std::uint64_t>& alternatives, const Machine& machine) {
  std::string text;
  for (const std::uint64_t mask : alternatives) {
    const std::string all = all_of(mask, machine, "&");
    text += (text.empty() ? "" : "|") + (alternatives.size() > 1 && all.contains('&') ? "(" + all + ")" : all);
  }
  return text;
}

std::string names_text(const std::vector<NodeId>& nodes, const Machine& machine) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const NodeId node : nodes) names.push_back(machine.nodes[node.value].name);
  return format_host_list(names);
}

std::string wish_text(const NodeWish& wish, const Machine& machine, bool one) {
  std::string text = one ? "a node" : "nodes";
  if (!wish.among.empty()) text = (wish.among.size() == 1 ? "node " : "nodes ") + names_text(wish.among, machine);
  const char* before = " with ";
  for (const std::uint64_t mask : wish.features) {
    text += before + all_of(mask, machine, " and ");
    before = ", or ";
  }
  if (!wish.without.empty()) text += " other than " + names_text(wish.without, machine);
  return text;
}

Result<std::uint64_t> add_features(std::string_view names, std::vector<std::string>& known) {
  std::uint64_t mask = 0;
  for (const std::string_view each : split(names, ',')) {
    const std::string_view name = trimmed(each);
    if (name.empty()) return fail("the name of a feature is missing in {}.", quoted(names));
    if (name.find_first_of(kSigns) != std::string_view::npos || name.find_first_of(" \t") != std::string_view::npos)
      return fail("{} is no name of a feature: leave out blanks and {}.", quoted(name), kSigns);
    const auto found = std::ranges::find(known, name);
    const auto index = static_cast<std::size_t>(found - known.begin());
    if (index == kMostFeatures)
      return fail("with {} there are more than {} features, which are the most that Rota can tell apart.", quoted(name),
                  kMostFeatures);
    if (found == known.end()) known.emplace_back(name);
    mask |= std::uint64_t{1} << index;
  }
  return mask;
}

}  // namespace rota
