#include "api/routes.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace rota::api {

std::string_view document(std::string_view name);

namespace {

using Json = nlohmann::json;

std::set<std::string> documented() {
  std::set<std::string> all;
  const Json json = Json::parse(document("openapi.json"));
  for (const auto& [path, operations] : json.at("paths").items()) {
    for (const auto& [method, operation] : operations.items()) {
      std::string upper;
      for (const char c : method) upper += static_cast<char>(c - 'a' + 'A');
      all.insert(fmt::format("{} {}", upper, path));
    }
  }
  return all;
}

TEST(Routes, are_those_of_the_document_and_no_others) {
  std::set<std::string> answered;
  for (const Route& route : route_table())
    EXPECT_TRUE(answered.insert(fmt::format("{} {}", route.method, route.path)).second) << route.path;
  EXPECT_EQ(answered, documented());
}

// A reader alone does not find where a document refers to what it does not define.
TEST(Routes, the_document_defines_what_it_refers_to) {
  const std::string text(document("openapi.json"));
  const Json json = Json::parse(text);
  const std::string mark = R"("$ref": "#)";
  std::size_t found = 0;
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1), ++found) {
    const auto from = at + mark.size();
    const Json::json_pointer pointer(text.substr(from, text.find('"', from) - from));
    EXPECT_TRUE(json.contains(pointer)) << pointer.to_string();
  }
  EXPECT_GT(found, 50U);
}

}  // namespace
}  // namespace rota::api
