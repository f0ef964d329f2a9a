// Reads a bind/*.sched file: a first line with its lesson; the rule; and step by step which node comes or goes, and the
// stacks that it leaves, bottom first. '#' begins a comment.
//
//   # lesson: ...
//   bind node                                  or node-literal or node-weighted
//   steps
//   join 1 rack=1 accelerators=1    >  1:         and maybe speed=N (per mille)
//   join 10 rack=1                  >  1: 10
//   leave 1                         >  unbound: 10
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/text.h"
#include "policy/bind/bind.h"
#include "policy/bind/dealer.h"

namespace rota::golden {

struct BindStep {
  bool joins = false;
  NodeId node;
  RackId rack{0};
  std::int64_t accelerators = 0;
  std::int64_t speed = kUnitSpeed;
  std::string text;      // as in the file
  std::string expected;  // "1: 10 12; 2: 11; unbound: 13"
};

struct BindFile {
  std::string lesson;
  NodeBinding::Stop stop = NodeBinding::Stop::balanced;
  std::vector<BindStep> steps;
};

class BindReader {
 public:
  static BindFile read(const std::filesystem::path& path) { return BindReader(path).file_; }

 private:
  explicit BindReader(const std::filesystem::path& path) : shown_(path.filename().string()) {
    std::ifstream in(path);
    for (std::string text; std::getline(in, text);) {
      ++line_;
      const std::string mark = "# lesson: ";
      if (line_ == 1 && !text.starts_with(mark)) fail("the first line does not say the lesson");
      if (line_ == 1) file_.lesson = text.substr(mark.size());
      std::istringstream words(text.substr(0, text.find('#')));
      if (std::string word; words >> word) read_line(word, words);
    }
    if (file_.steps.empty()) fail("nothing is expected");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(shown_ + ":" + std::to_string(line_) + ": " + what);
  }

  std::int64_t number(const std::string& word) const {
    const auto value = parse_integer(word);
    if (!value) fail(value.error().message);
    return *value;
  }

  void read_line(const std::string& word, std::istringstream& words) {
    if (word == "steps") {
      in_steps_ = true;
    } else if (in_steps_) {
      read_step(word, words);
    } else if (word == "bind") {
      read_rule(words);
    } else {
      fail("what is " + word + "?");
    }
  }

  void read_rule(std::istringstream& words) {
    std::string rule;
    words >> rule;
    if (rule == name_of(Bind::node_literal)) {
      file_.stop = NodeBinding::Stop::literal;
    } else if (rule == name_of(Bind::node_weighted)) {
      file_.stop = NodeBinding::Stop::weighted;
    } else if (rule != name_of(Bind::node)) {
      fail("there is no rule " + rule);
    }
  }

  void read_step(const std::string& word, std::istringstream& words) {
    BindStep& step = file_.steps.emplace_back();
    std::string node;
    words >> node;
    step.joins = word == "join";
    if (!step.joins && word != "leave") fail("a node joins or leaves; what is " + word + "?");
    step.node = NodeId{static_cast<std::uint32_t>(number(node))};
    for (std::string more; words >> more && more != ">";) {
      const auto equals = more.find('=');
      const std::string name = more.substr(0, equals);
      if (equals == std::string::npos || (name != "rack" && name != "accelerators" && name != "speed"))
        fail("what is " + more + "?");
      const std::int64_t value = number(more.substr(equals + 1));
      if (name == "rack") step.rack = RackId{static_cast<std::uint32_t>(value)};
      if (name == "accelerators") step.accelerators = value;
      if (name == "speed") step.speed = value;
    }
    step.text = word + " " + node;
    for (std::string more; words >> more;) step.expected += (step.expected.empty() ? "" : " ") + more;
  }

  std::string shown_;
  bool in_steps_ = false;
  int line_ = 0;
  BindFile file_;
};

}  // namespace rota::golden
