#include "store/rare_request_json.h"

#include <nlohmann/json.hpp>
#include <type_traits>

namespace rota::store {
namespace {

// visit(name, member) for each member.
template <class Request, class Visit>
void members(Request& asked, const Visit& visit) {
  visit("priority", asked.priority);
  visit("accelerators", asked.accelerators);
  visit("accelerator_type", asked.accelerator_type);
  visit("licence", asked.licence);
  visit("licences", asked.licences);
  visit("more_licences", asked.more_licences);
  visit("requeue", asked.requeue);
  visit("checkpoint", asked.checkpoint);
  visit("once", asked.once);
  visit("after", asked.after);
  visit("throttle", asked.throttle);
  visit("texts", asked.texts);
}

}  // namespace

std::string asked_text(const RareRequest& asked) {
  if (asked == RareRequest{}) return {};
  nlohmann::json json;
  members(asked, [&](const char* name, const auto& member) {
    if (member != std::remove_cvref_t<decltype(member)>{}) json[name] = member;
  });
  if (asked.not_before != kEpoch) json["not_before"] = asked.not_before.time_since_epoch().count();
  if (asked.suspended != Duration{0}) json["suspended"] = asked.suspended.count();
  if (asked.earlier != Duration{0}) json["earlier"] = asked.earlier.count();
  if (asked.waited_again != Duration{0}) json["waited_again"] = asked.waited_again.count();
  if (asked.grace.over > Duration{0})
    json["grace"] = {{"over", asked.grace.over.count()}, {"rule", asked.grace.rule}, {"why", asked.grace.why}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

RareRequest read_asked(std::string_view text) {
  RareRequest asked;
  if (text.empty()) return asked;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return asked;
  try {
    members(asked, [&]<class Member>(const char* name, Member& member) { member = json.value(name, Member{}); });
    asked.not_before = Instant{Duration{json.value("not_before", std::int64_t{0})}};
    asked.suspended = Duration{json.value("suspended", std::int64_t{0})};
    asked.earlier = Duration{json.value("earlier", std::int64_t{0})};
    asked.waited_again = Duration{json.value("waited_again", std::int64_t{0})};
    if (const auto grace = json.find("grace"); grace != json.end())
      asked.grace = {Duration{grace->value("over", std::int64_t{0})}, grace->value("rule", ""),
                     grace->value("why", "")};
  } catch (const nlohmann::json::exception&) {
    return {};
  }
  return asked;
}

}  // namespace rota::store
