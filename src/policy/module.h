// A mechanism of a policy declares itself in one value: its knobs, the policies that are known for it, the link that
// decides, what it asks of the cluster's state and of the engine, and what it does not go with. The list of all is in
// policy/registry.h.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "policy/knob.h"
#include "policy/policy.h"

namespace rota {

// What an engine can do and not every engine does.
enum class Capability : std::uint8_t { suspend, checkpoint, requeue, cancel, extend, power, move, tasks, sites };

struct EngineNeed {
  std::string_view knob;  // as the refusal names it
  Capability what;
  bool (*needed)(const ChainKnobs&);
};

// What would go wrong, and what to do about it, as a sentence.
struct Refusal {
  bool (*holds)(const ChainKnobs&);
  std::string_view sentence;
};

// A policy with a name: knobs that are set together.
struct PolicyName {
  std::string_view name;
  std::string_view aliases;     // separated by blanks
  std::string_view stands_for;  // the knobs that it sets
  std::string_view meaning;
  std::string_view source;
  std::string_view behind = {};  // the one knob that it sets behind another policy, as in easy+grace; empty: none
};

struct Module {
  std::string_view name;
  std::span<const Knob> knobs = {};
  std::span<const PolicyName> policies = {};  // that are known for it; they may set knobs of others
  // What decides; nullptr, or gives nullptr, where nothing is to be decided.
  std::unique_ptr<Policy> (*link)(const ChainKnobs&) = nullptr;
  // Whether that link has something to say only while some node is not on; then it is not asked otherwise.
  bool (*waits_for_sleepers)(const ChainKnobs&) = nullptr;
  // Adds the indexes and rules of the state that it asks for. Indexes of waiting jobs that no module adds are not kept.
  void (*ask)(const ChainKnobs&, ClusterOptions&) = nullptr;
  std::span<const EngineNeed> engine = {};
  std::span<const Refusal> refusals = {};
  // Why it would not keep what is reserved, as the end of a sentence that begins with "because"; empty: it does.
  std::string_view (*breaks_reservations)(const ChainKnobs&) = nullptr;
  bool in_plain_mode = false;  // stays as it is until an operator has looked at a refused plan
};

}  // namespace rota
