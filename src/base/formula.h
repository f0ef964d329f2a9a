// A formula that a user wrote, such as "work / (nodes * longest)": numbers, names, + - * / ^, parentheses, and sqrt,
// log, exp, min, max. Immutable once parsed; threads may share it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rota {

class Formula {
 public:
  // `names`: those that it may have, in the order in which value() gets them. Fails with half a sentence that says
  // where it makes no sense. O(length)
  static Result<Formula> parse(std::string_view text, std::span<const std::string_view> names);

  // As doubles reckon; not a number where it has no value. O(length)
  double value(std::span<const double> of_names) const;

 private:
  enum class Op : std::uint8_t {
    number,
    name,
    add,
    subtract,
    multiply,
    divide,
    power,
    negate,
    sqrt,
    log,
    exp,
    min,
    max
  };
  struct Step {
    Op op;
    double number = 0;
    std::size_t name = 0;
  };
  class Parser;

  std::vector<Step> steps_;  // in reverse Polish order
  std::size_t deepest_ = 0;  // so many values are on the stack at one time
};

}  // namespace rota
