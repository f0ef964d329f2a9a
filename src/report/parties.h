// Users, groups (accounts), partitions and queues (QOS): what each of them got under each policy.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/metrics.h"
#include "report/outcome.h"
#include "report/share_use.h"

namespace rota::report {

// The figures of one party under one policy; means of nothing are absent.
struct PartyFigures {
  std::int64_t jobs = 0;            // that ended
  std::optional<double> wait_mean;  // seconds, as are all waits
  std::optional<double> wait_median;
  std::optional<double> wait_p95;
  std::optional<double> wait_max;
  std::optional<double> bounded_slowdown;
};

struct Party {
  std::string name;
  std::vector<PartyFigures> figures;  // of each outcome
};

struct Parties {
  const char* kind;            // "user", "group (account)", "partition", "queue (QOS)"
  std::int64_t all = 0;        // how many there are
  std::vector<Party> parties;  // those that used most processor time under the first outcome, then the others together
};

inline constexpr std::size_t kMostParties = 12;

// For outcomes of the same jobs, which they kept. A kind is left out where fewer than two are known of it.
std::vector<Parties> parties_of(std::span<const Outcome> outcomes);

enum class PartyKind : std::uint8_t { user, account, partition, qos };
inline constexpr const char* kPartyKinds[] = {"user", "account", "partition", "qos"};  // as PartyKind

// The comparison once more, of the jobs of one party alone.
struct PartySummaries {
  PartyKind kind;
  std::string party;
  std::vector<Summary> rows;  // of each outcome; what only a whole run has (power, tasks, lost work, sites) is left out
  std::vector<std::optional<ShareUse>> shares = {};  // as rows, of an account; nullopt: it is owed nothing, or unknown
};

// For outcomes of the same jobs, which they kept: the parties that used most processor time under the first outcome
// come first. Where there are more than `most`, the others together are the last. Empty: nothing of that kind is known.
std::vector<PartySummaries> summaries_by(PartyKind kind, std::span<const Outcome* const> outcomes, std::size_t most);

}  // namespace rota::report
