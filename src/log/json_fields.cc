#include "log/json_fields.h"

#include <array>

namespace rota::log {
namespace {

using enum JsonField::Kind;

constexpr std::array<JsonField, kSwfFields + 5> kOfRows{{
    {"number", number, SwfField::number},
    {"submit", time, SwfField::submit},
    {"wait", time, SwfField::wait},
    {"run_time", time, SwfField::run},
    {.name = "suspended", .kind = aside, .aside = &SwfRow::suspended},
    {.name = "earlier_elapsed", .kind = aside, .aside = &SwfRow::earlier},
    {"processors", number, SwfField::processors},
    {"requested_processors", number, SwfField::requested_processors},
    {"cpu_time", time, SwfField::cpu_time},
    {"limit", time, SwfField::requested_time},
    {"used_memory_kb", number, SwfField::used_memory},
    {"requested_memory_kb", number, SwfField::requested_memory},
    {"status", number, SwfField::status},
    {"user", named, SwfField::user},
    {"group", named, SwfField::group},
    {"executable", number, SwfField::executable},
    {"queue", named, SwfField::queue},
    {"partition", named, SwfField::partition},
    {"preceding", number, SwfField::preceding},
    {"think_time", time, SwfField::think_time},
    {"array", array},
    {"array_throttle", throttle},
    {"node_list", node_list},
}};

std::vector<JsonField> all_fields() {
  std::vector<JsonField> all(kOfRows.begin(), kOfRows.end());
  for (const AttributeColumn& attribute : attribute_columns())
    all.push_back({.name = attribute.name, .kind = column, .column = &attribute});
  return all;
}

}  // namespace

std::span<const JsonField> json_fields() {
  static const std::vector<JsonField> all = all_fields();
  return all;
}

std::vector<std::string_view> json_field_names() {
  std::vector<std::string_view> names;
  for (const JsonField& field : json_fields()) names.push_back(field.name);
  return names;
}

}  // namespace rota::log
