// What docs/api.md and docs/openapi.json say of a job's wishes is made from their table.
#include "model/job_request.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <concepts>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "base/page_test.h"

namespace rota::api {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
constexpr bool kIsNumber = std::integral<T> && !std::same_as<T, bool>;
template <class T>
constexpr bool kIsSwitch = std::same_as<T, bool> || std::same_as<T, std::optional<bool>>;
template <class T>
constexpr bool kIsTime = std::same_as<T, Duration> || std::same_as<T, std::optional<Duration>>;

template <class T>
std::string_view type_word(const Wish<T>& wish) {
  if constexpr (std::same_as<T, std::string>) return "text";
  if constexpr (std::same_as<T, std::vector<std::string>>) return "array of texts";
  if constexpr (kIsSwitch<T>) return "true, false";
  if constexpr (kIsTime<T>) return "number of seconds";
  if constexpr (std::same_as<T, std::optional<Instant>>) return "Unix time";
  if constexpr (std::same_as<T, Attach>) return "object";
  return wish.takes == std::string_view("a number of bytes") ? "number of bytes" : "number";
}

template <class T>
Json schema_of(const Wish<T>& wish) {
  Json schema = Json::object();
  if constexpr (std::same_as<T, std::string>) {
    schema["type"] = "string";
  } else if constexpr (std::same_as<T, std::vector<std::string>>) {
    schema["type"] = "array";
    schema["items"]["type"] = "string";
  } else if constexpr (kIsSwitch<T>) {
    schema["type"] = "boolean";
  } else if constexpr (kIsNumber<T>) {
    schema["type"] = "integer";
    schema["minimum"] = wish.least;
    if (wish.most < kMostAsked) schema["maximum"] = wish.most;
  } else if constexpr (std::same_as<T, Attach>) {
    schema["type"] = "object";
    schema["required"] = {"socket"};
    for (const char* name : {"terminal", "error_apart", "keep"}) schema["properties"][name]["type"] = "boolean";
    for (const char* name : {"rows", "columns"})
      schema["properties"][name] = {{"type", "integer"}, {"minimum", 0}, {"maximum", UINT16_MAX}};
    schema["properties"]["socket"]["type"] = "string";
    schema["additionalProperties"] = false;
  } else {
    schema["type"] = "number";
    if (kIsTime<T>) schema["minimum"] = 0;
  }
  schema["description"] = wish.meaning;
  return schema;
}

TEST(JobRequestPage, is_in_the_documentation_of_the_interface) {
  std::string rows = "| member | type | meaning |\n|---|---|---|\n";
  each_wish(
      [&](const auto& wish) { rows += fmt::format("| `{}` | {} | {} |\n", wish.name, type_word(wish), wish.meaning); });
  expect_in_page("api.md", "wishes", rows);
}

TEST(JobRequestPage, is_in_the_document_of_the_interface) {
  std::string rows;
  each_wish([&](const auto& wish) {
    rows += fmt::format("{}     \"{}\": {}", rows.empty() ? "" : ",\n", wish.name, schema_of(wish).dump());
  });
  expect_between("openapi.json", "   \"Submission\": {\n    \"type\": \"object\",\n    \"properties\": {\n",
                 "\n    },\n    \"additionalProperties\": false\n   },\n   \"Submitted\"", rows);
}

}  // namespace
}  // namespace rota::api
