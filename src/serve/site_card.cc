#include "serve/site_card.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "control/siting.h"
#include "serve/member_json.h"

namespace rota::serve {
namespace {

constexpr std::size_t kMostText = 256 << 10;  // bytes of a card
constexpr std::int64_t kMostCounted = std::int64_t{1} << 40;
constexpr std::int64_t kMostUnixMilliseconds = 4'102'444'800'000;  // the year 2100

template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return name.empty() || std::ranges::find(names, name) != names.end();
}

bool read_started(const Json& json, decltype(SiteCard::started)& into) {
  if (!json.is_object()) return false;
  for (const auto& [home, jobs] : json.items()) {
    if (!jobs.is_object()) return false;
    for (const auto& [serial, at] : jobs.items()) {
      const auto number = parse_integer(serial);
      if (!number || !take_number(at, into[home][*number], 0, kMostUnixMilliseconds)) return false;
    }
  }
  return true;
}

}  // namespace

SiteCard card_of(const Machine& machine, const View& view, const site::FederationSettings& settings) {
  SiteCard card;
  card.nodes = static_cast<std::int64_t>(machine.nodes.size());
  card.processors = machine.processors;
  card.partitions = names_of(machine.partitions);
  if (!settings.partitions.empty())
    std::erase_if(card.partitions, [&](const std::string& name) { return !has(settings.partitions, name); });
  card.accelerators = machine.accelerator_types;
  card.licences = names_of(machine.licences);
  card.used = view.running().processors();
  card.asked = processors_asked(view) - card.used;
  card.address = settings.address;
  card.bandwidth = settings.bandwidth;
  return card;
}

std::string card_text(const SiteCard& card) {
  Json started = Json::object();
  for (const auto& [home, jobs] : card.started) {
    Json& of_home = started[home] = Json::object();
    for (const auto& [serial, at] : jobs) of_home[std::to_string(serial)] = at;
  }
  return Json{{"nodes", card.nodes},           {"processors", card.processors},
              {"partitions", card.partitions}, {"accelerators", card.accelerators},
              {"licences", card.licences},     {"used", card.used},
              {"asked", card.asked},           {"address", card.address},
              {"bandwidth", card.bandwidth},   {"started", std::move(started)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<SiteCard> read_card(const std::string& text) {
  if (text.empty() || text.size() > kMostText) return std::nullopt;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  SiteCard card;
  const auto read = [&](const char* name, auto& into) {
    const auto member = json.find(name);
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(into)>, std::int64_t>)
      return member != json.end() && take_number(*member, into, 0, kMostCounted);
    else
      return member != json.end() && read_value(*member, into);
  };
  const bool good = read("nodes", card.nodes) && read("processors", card.processors) &&
                    read("partitions", card.partitions) && read("accelerators", card.accelerators) &&
                    read("licences", card.licences) && read("used", card.used) && read("asked", card.asked) &&
                    read("address", card.address) && read("bandwidth", card.bandwidth);
  const auto started = json.find("started");
  if (!good || (started != json.end() && !read_started(*started, card.started))) return std::nullopt;
  card.bandwidth = std::max<std::int64_t>(card.bandwidth, 1);
  return card;
}

bool may_run(const SiteCard& card, const JobRequest& request) {
  std::vector<std::string> licences;
  if (!request.licence.empty()) licences.push_back(request.licence);
  for (const std::string& licence : request.more_licences) licences.push_back(licence.substr(0, licence.find(':')));
  return std::max<std::int64_t>(request.processors, 1) <= card.processors &&
         (card.nodes == 0 || std::int64_t{request.nodes} <= card.nodes) && has(card.partitions, request.partition) &&
         has(card.accelerators, request.accelerator_type) &&
         std::ranges::all_of(licences, [&](const std::string& name) { return has(card.licences, name); });
}

const SiteCard* SiteCards::find(SiteId site) const {
  const std::string& text = exchange_.card_of(site);
  auto& [as_read, card] = read_[site];
  if (as_read != text) {
    as_read = text;
    card = read_card(text);
  }
  return card ? &*card : nullptr;
}

}  // namespace rota::serve
