// The fields of a job in JSON lines: the 18 of SWF under names of their own, for how long it was suspended and ran
// before, its array, where it ran, and every attribute. docs/workloads.md has them for people.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "log/job_attributes.h"
#include "log/swf_row.h"

namespace rota::log {

struct JsonField {
  enum class Kind : std::uint8_t {
    number,
    time,   // a number of seconds, or a duration in words
    named,  // a number, or a name that gets one
    aside,  // a time that SWF has no field for
    array,  // SwfRow::array, a whole number as is
    throttle,
    node_list,  // SwfRow::ran_on
    column,     // an attribute
  };
  std::string_view name;
  Kind kind;
  SwfField swf{};                           // of numbers, times and what is named
  Duration SwfRow::* aside = nullptr;       // of times aside
  const AttributeColumn* column = nullptr;  // of columns
};

// In the order in which they are written: those of rows first.
std::span<const JsonField> json_fields();

std::vector<std::string_view> json_field_names();

}  // namespace rota::log
