// Reads a bind/*.sched file: a first line with its lesson; the rule; nodes that come and go; and what they come to. '#'
// begins a comment. Without an application the file tells of nodes and stacks, step by step:
//
//   # lesson: ...
//   bind node                                  or node-literal
//   steps                                      what happens > the stacks that it leaves, bottom first
//   join 1 rack=1 accelerators=1    >  1:
//   join 10 rack=1                  >  1: 10
//   leave 1                         >  unbound: 10
//
// With an application it tells who computes how many of its tasks. Seconds throughout:
//
//   # lesson: ...
//   bind late
//   application tasks=40 cpu=10 accelerator=1      and maybe start-up=N
//   nodes
//   1 rack=1 accelerators=1 speed=500 leaves=20    speed per mille; joins=N drains=N
//   2 rack=1
//   outcome                                        all that compute any
//   end 18
//   cpu 2 4                                        node 2: tasks
//   accelerator 1 18                               node 1: tasks, for each of its accelerators
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/sim/offload.h"

namespace rota::golden {

struct BindStep {
  bool joins = false;
  NodeId node;
  RackId rack{0};
  bool accelerator = false;
  std::string said;      // as in the file
  std::string expected;  // "1: 10 12; 2: 11; unbound: 13"
};

struct BindFile {
  std::string lesson;
  sim::Offload offload;  // of an application
  std::vector<BindStep> steps;
  std::vector<std::string> outcome;
};

class BindReader {
 public:
  static BindFile read(const std::filesystem::path& path) { return BindReader(path).file_; }

 private:
  using Values = std::map<std::string, std::int64_t>;

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
    if (file_.steps.empty() && (file_.offload.nodes.empty() || file_.outcome.empty())) fail("nothing is expected");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(shown_ + ":" + std::to_string(line_) + ": " + what);
  }

  std::int64_t number(const std::string& word) const {
    const auto value = parse_integer(word);
    if (!value) fail(value.error().message);
    return *value;
  }

  // NAME=NUMBER pairs up to the end or to `until`; `known` are the names that there can be.
  Values values(std::istringstream& words, const std::vector<std::string>& known, const std::string& until = "") const {
    Values found;
    for (std::string word; words >> word && word != until;) {
      const auto equals = word.find('=');
      const std::string name = word.substr(0, equals);
      if (equals == std::string::npos || std::ranges::find(known, name) == known.end()) fail("what is " + word + "?");
      found[name] = number(word.substr(equals + 1));
    }
    return found;
  }

  static std::int64_t get(const Values& values, const std::string& name, std::int64_t otherwise) {
    const auto at = values.find(name);
    return at == values.end() ? otherwise : at->second;
  }

  void read_line(const std::string& word, std::istringstream& words) {
    if (word == "steps" || word == "nodes" || word == "outcome") {
      part_ = word;
    } else if (part_ == "steps") {
      read_step(word, words);
    } else if (part_ == "nodes") {
      read_node(number(word), words);
    } else if (part_ == "outcome") {
      std::string line = word;
      for (std::string more; words >> more;) line += " " + more;
      file_.outcome.push_back(line);
    } else if (word == "bind") {
      read_rule(words);
    } else if (word == "application") {
      const Values its = values(words, {"tasks", "cpu", "accelerator", "start-up"});
      file_.offload.tasks = static_cast<std::uint32_t>(get(its, "tasks", 0));
      file_.offload.times = {seconds(get(its, "cpu", 0)), seconds(get(its, "accelerator", 0))};
      file_.offload.start_up = seconds(get(its, "start-up", 0));
    } else {
      fail("what is " + word + "?");
    }
  }

  void read_rule(std::istringstream& words) {
    std::string rule;
    words >> rule;
    for (const Bind bind : {Bind::none, Bind::node, Bind::node_literal, Bind::container, Bind::weighted, Bind::late}) {
      if (name_of(bind) != rule) continue;
      file_.offload.bind = bind;
      return;
    }
    fail("there is no rule " + rule);
  }

  void read_step(const std::string& word, std::istringstream& words) {
    BindStep& step = file_.steps.emplace_back();
    std::string node;
    words >> node;
    step.joins = word == "join";
    if (!step.joins && word != "leave") fail("a node joins or leaves; what is " + word + "?");
    step.node = NodeId{static_cast<std::uint32_t>(number(node))};
    const Values its = values(words, {"rack", "accelerators"}, ">");
    step.rack = RackId{static_cast<std::uint32_t>(get(its, "rack", 0))};
    step.accelerator = get(its, "accelerators", 0) > 0;
    step.said = word + " " + node;
    for (std::string more; words >> more;) step.expected += (step.expected.empty() ? "" : " ") + more;
  }

  void read_node(std::int64_t id, std::istringstream& words) {
    const Values its = values(words, {"rack", "accelerators", "speed", "joins", "leaves", "drains"});
    if (id != static_cast<std::int64_t>(file_.offload.nodes.size()) + 1) fail("nodes are numbered from 1");
    sim::OffloadNode& node = file_.offload.nodes.emplace_back();
    node.rack = RackId{static_cast<std::uint32_t>(get(its, "rack", 0))};
    node.speeds.assign(static_cast<std::size_t>(get(its, "accelerators", 0)),
                       static_cast<std::int32_t>(get(its, "speed", kUnitSpeed)));
    node.joins = at_seconds(get(its, "joins", 0));
    if (its.contains("drains")) node.drains = at_seconds(its.at("drains"));
    if (its.contains("leaves")) node.leaves = at_seconds(its.at("leaves"));
  }

  std::string shown_;
  std::string part_;
  int line_ = 0;
  BindFile file_;
};

}  // namespace rota::golden
