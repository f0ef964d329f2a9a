#include "serve/request_json.h"

#include <fmt/core.h>
#include <concepts>
#include <utility>

#include "base/text.h"

namespace rota::serve {

std::unexpected<Error> wrong_member(const std::string& name, const std::string& takes) {
  return fail("`{}` takes {}.", name, takes);
}

std::unexpected<Error> unknown_member(const std::string& name, const std::vector<std::string_view>& names) {
  const std::string_view near = nearest(name, names);
  return fail("there is no member {}{}", rota::quoted(name),
              near.empty() ? std::string(".") : fmt::format("; did you mean `{}`?", near));
}

namespace {

// Reads the member of a request that a row of the table describes, as its type says.
template <class T>
bool take_wish(const Json& json, const Wish<T>& wish, std::int64_t unix_start, JobRequest& into) {
  T& member = into.*wish.member;
  if constexpr (std::same_as<T, std::string>) {
    return wish.most > 0 ? read_value(json, member) : take_script(json, member);
  } else if constexpr (std::same_as<T, std::optional<Instant>>) {
    return read_value(json, member, unix_start);
  } else if constexpr (std::same_as<T, std::optional<bool>>) {
    return read_value(json, member.emplace());
  } else if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    return take_number(json, member, wish.least, wish.most);
  } else {
    return read_value(json, member);
  }
}

// The value of a wish in JSON; null: it does not go to another computer.
Json said(const std::string& text, std::int64_t) { return text; }
Json said(const std::vector<std::string>& texts, std::int64_t) { return texts; }
Json said(bool yes, std::int64_t) { return yes; }
Json said(Duration time, std::int64_t) { return static_cast<double>(time.count()) / 1000; }
Json said(Instant at, std::int64_t unix_start) {
  return static_cast<double>(at.time_since_epoch().count() + unix_start * 1000) / 1000;
}
Json said(std::integral auto number, std::int64_t) { return number; }
Json said(const Attach&, std::int64_t) { return nullptr; }  // a terminal is at one computer
template <class T>
Json said(const std::optional<T>& value, std::int64_t unix_start) {
  return said(*value, unix_start);
}

}  // namespace

Result<void> read_wish(const std::string& name, const Json& json, std::int64_t unix_start, JobRequest& into) {
  bool known = false;
  Result<void> taken;
  each_wish([&](const auto& wish) {
    if (known || wish.name != name) return;
    known = true;
    const bool texts = std::string_view(wish.takes).starts_with("an array");
    if (texts && json.is_array() && json.size() > kMostTexts)
      taken = fail("`{}` has more than {} texts; send fewer.", name, grouped(kMostTexts));
    else if (!take_wish(json, wish, unix_start, into))
      taken = wrong_member(name, std::string(wish.takes));
  });
  if (known) return taken;
  std::vector<std::string_view> names;
  each_wish([&](const auto& wish) { names.push_back(wish.name); });
  return unknown_member(name, names);
}

Result<JobRequest> read_request(const Json& json, std::int64_t unix_start) {
  if (!json.is_object()) return fail("a submission is a JSON object.");
  JobRequest submission;
  for (const auto& [name, value] : json.items()) TRY(read_wish(name, value, unix_start, submission));
  return submission;
}

Json json_of(const JobRequest& request, std::int64_t unix_start) {
  static const JobRequest kNothing;
  Json json = Json::object();
  each_wish([&](const auto& wish) {
    const auto& value = request.*wish.member;
    if (value == kNothing.*wish.member) return;
    if (Json member = said(value, unix_start); !member.is_null()) json[std::string(wish.name)] = std::move(member);
  });
  return json;
}

}  // namespace rota::serve
