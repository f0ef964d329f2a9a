// Reads a bind/*.sched file: a first line with its lesson; the rule; and step by step which node comes or goes, and the
// stacks that it leaves, bottom first. '#' begins a comment.
//
//   # lesson: ...
//   bind node                                  or node-literal, node-weighted or slot
//   steps
//   join 1 rack=1 accelerators=1    >  1:         and maybe speed=N (per mille)
//   join 10 rack=1                  >  1: 10
//   leave 1                         >  unbound: 10
//
// Under `slot` nodes with accelerators come and go, and slots of nodes:
//   open 20 rack=1 node=5           >  1: 20
//   close 20 21                     >  1:        together
#pragma once

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/text.h"
#include "policy/bind/bind.h"
#include "policy/bind/dealer.h"
#include "policy/bind/slots.h"

namespace rota::golden {

struct BindStep {
  bool joins = false;  // or opens
  bool of_slots = false;
  NodeId node;  // that joins or leaves, or where the slot is
  std::vector<SlotId> slots;
  RackId rack{0};
  std::int64_t accelerators = 0;
  std::int64_t speed = kUnitSpeed;
  std::string text;      // as in the file
  std::string expected;  // "1: 10 12; 2: 11; unbound: 13"
};

struct BindFile {
  std::string lesson;
  NodeBinding::Stop stop = NodeBinding::Stop::balanced;
  bool slots = false;
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
    throw std::runtime_error(fmt::format("{}:{}: {}", shown_, line_, what));
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
      fail(fmt::format("what is {}?", word));
    }
  }

  void read_rule(std::istringstream& words) {
    std::string rule;
    words >> rule;
    if (rule == name_of(Bind::node_literal)) {
      file_.stop = NodeBinding::Stop::literal;
    } else if (rule == name_of(Bind::node_weighted)) {
      file_.stop = NodeBinding::Stop::weighted;
    } else if (rule == name_of(Bind::slot)) {
      file_.slots = true;
    } else if (rule != name_of(Bind::node)) {
      fail("there is no rule " + rule);
    }
  }

  void read_step(const std::string& word, std::istringstream& words) {
    BindStep& step = file_.steps.emplace_back();
    step.joins = word == "join" || word == "open";
    step.of_slots = word == "open" || word == "close";
    if (!step.joins && word != "leave" && word != "close") fail(fmt::format("nodes join and leave; what is {}?", word));
    if (step.of_slots && !file_.slots) fail("there are no slots under this rule");
    step.text = word;
    for (std::string more; words >> more && more != ">";) {
      step.text += " " + more;
      if (more.find_first_not_of("0123456789") == std::string::npos) {
        const auto which = static_cast<std::uint32_t>(number(more));
        if (step.of_slots) {
          step.slots.push_back({which});
        } else {
          step.node = NodeId{which};
        }
        continue;
      }
      const auto equals = more.find('=');
      const std::string name = more.substr(0, equals);
      if (equals == std::string::npos ||
          (name != "rack" && name != "accelerators" && name != "speed" && name != "node")) {
        fail(fmt::format("what is {}?", more));
      }
      const std::int64_t value = number(more.substr(equals + 1));
      if (name == "rack") step.rack = RackId{static_cast<std::uint32_t>(value)};
      if (name == "accelerators") step.accelerators = value;
      if (name == "speed") step.speed = value;
      if (name == "node") step.node = NodeId{static_cast<std::uint32_t>(value)};
    }
    for (std::string more; words >> more;) step.expected += (step.expected.empty() ? "" : " ") + more;
  }

  std::string shown_;
  bool in_steps_ = false;
  int line_ = 0;
  BindFile file_;
};

}  // namespace rota::golden
