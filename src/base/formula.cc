#include "base/formula.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace rota {

class Formula::Parser {
 public:
  Parser(std::string_view text, std::span<const std::string_view> names) : text_(text), names_(names) {}

  Result<Formula> made() {
    TRY(sum());
    skip_blanks();
    if (at_ < text_.size()) return wrong("an operator is expected");
    return std::move(out_);
  }

 private:
  static constexpr int kDeepest = 50;  // parentheses within one another

  std::unexpected<Error> wrong(const std::string& why) const {
    const std::string_view rest = text_.substr(std::min(at_, text_.size()));
    return fail(why + (rest.empty() ? " at its end" : " at " + rota::quoted(rest)));
  }
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char sign) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }
  void add(Step step, int pushes) {
    out_.steps_.push_back(step);
    depth_ += pushes;
    out_.deepest_ = std::max(out_.deepest_, static_cast<std::size_t>(depth_));
  }

  // operand { (+|-) operand }, and the like one level down
  template <std::size_t N>
  Result<void> row(Result<void> (Parser::*read_one)(), const std::array<std::pair<char, Op>, N>& signs) {
    if (auto read = (this->*read_one)(); !read) return read;
    for (;;) {
      const auto sign = std::ranges::find_if(signs, [&](const auto& one) { return take(one.first); });
      if (sign == signs.end()) return {};
      if (auto read = (this->*read_one)(); !read) return read;
      add({sign->second}, -1);
    }
  }
  Result<void> sum() { return row<2>(&Parser::product, {{{'+', Op::add}, {'-', Op::subtract}}}); }
  Result<void> product() { return row<2>(&Parser::negated, {{{'*', Op::multiply}, {'/', Op::divide}}}); }
  Result<void> negated() {
    const bool negative = take('-');
    if (auto read = powers(); !read) return read;
    if (negative) add({Op::negate}, 0);
    return {};
  }
  Result<void> powers() {
    if (auto read = operand(); !read) return read;
    if (!take('^')) return {};
    if (auto read = negated(); !read) return read;
    add({Op::power}, -1);
    return {};
  }

  Result<void> operand() {
    if (take('(')) return inside(false);
    const char next = at_ < text_.size() ? text_[at_] : '\0';
    if (std::isalpha(static_cast<unsigned char>(next)) != 0) return word();
    double number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc{} || !std::isfinite(number)) return wrong("a number, a name or a parenthesis is expected");
    at_ = static_cast<std::size_t>(end - text_.data());
    add({Op::number, number}, 1);
    return {};
  }

  Result<void> word() {
    std::size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
      ++end;
    const std::string_view name = text_.substr(at_, end - at_);
    constexpr std::array<std::pair<std::string_view, Op>, 5> kFunctions{
        {{"sqrt", Op::sqrt}, {"log", Op::log}, {"exp", Op::exp}, {"min", Op::min}, {"max", Op::max}}};
    const auto* const function = std::ranges::find(kFunctions, name, &std::pair<std::string_view, Op>::first);
    if (function != kFunctions.end()) {
      at_ = end;
      return call(function->second);
    }
    const auto known = std::ranges::find(names_, name);
    if (known == names_.end()) return wrong("there is no name " + rota::quoted(name));
    at_ = end;
    add({Op::name, 0, static_cast<std::size_t>(known - names_.begin())}, 1);
    return {};
  }

  Result<void> call(Op function) {
    const bool two = function == Op::min || function == Op::max;
    if (!take('(')) return wrong("a parenthesis is expected");
    if (auto read = inside(two); !read) return read;
    add({function}, two ? -1 : 0);
    return {};
  }

  // What stands behind "(", with the ")".
  Result<void> inside(bool two) {
    if (++inside_ > kDeepest) return wrong("there are too many parentheses within one another");
    if (auto read = sum(); !read) return read;
    if (two) {
      if (!take(',')) return wrong("a comma is expected");
      if (auto read = sum(); !read) return read;
    }
    --inside_;
    return take(')') ? Result<void>{} : wrong("a parenthesis is not closed");
  }

  std::string_view text_;
  std::span<const std::string_view> names_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int inside_ = 0;
  Formula out_;
};

Result<Formula> Formula::parse(std::string_view text, std::span<const std::string_view> names) {
  return Parser(text, names).made();
}

double Formula::value(std::span<const double> of_names) const {
  std::vector<double> stack;
  stack.reserve(deepest_);
  const auto two = [&](const auto& reckon) {
    const double right = stack.back();
    stack.pop_back();
    stack.back() = reckon(stack.back(), right);
  };
  for (const Step& step : steps_) {
    switch (step.op) {
      case Op::number:
        stack.push_back(step.number);
        break;
      case Op::name:
        stack.push_back(of_names[step.name]);
        break;
      case Op::add:
        two([](double a, double b) { return a + b; });
        break;
      case Op::subtract:
        two([](double a, double b) { return a - b; });
        break;
      case Op::multiply:
        two([](double a, double b) { return a * b; });
        break;
      case Op::divide:
        two([](double a, double b) { return a / b; });
        break;
      case Op::power:
        two([](double a, double b) { return std::pow(a, b); });
        break;
      case Op::min:
        two([](double a, double b) { return std::min(a, b); });
        break;
      case Op::max:
        two([](double a, double b) { return std::max(a, b); });
        break;
      case Op::negate:
        stack.back() = -stack.back();
        break;
      case Op::sqrt:
        stack.back() = std::sqrt(stack.back());
        break;
      case Op::log:
        stack.back() = std::log(stack.back());
        break;
      case Op::exp:
        stack.back() = std::exp(stack.back());
        break;
    }
  }
  return stack.back();
}

}  // namespace rota
