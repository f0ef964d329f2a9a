// What a journal says before its first fact: what a replay has to know that is in no fact. Written as one line of text
// in JSON, by the table below; docs/journal.md has it for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "base/result.h"
#include "model/fields.h"

namespace rota::store {

struct JournalHead {
  std::string rota = {};        // the version that wrote it
  std::string policy = {};      // as it would be written on a command line
  std::int64_t processors = 0;  // of the cluster
  std::string ties = {};        // how events of one instant follow each other; empty: as they do by default
  std::string cluster = {};     // text of the cluster file; empty: there is none, processors are only counted
  std::string workload = {};    // what was rehearsed; empty: nothing was
  std::string settings = {};    // whatever else was asked for, as it would be written on a command line
  std::int64_t unix_start = 0;  // Unix time of instant 0; 0: not known
  std::string shares = {};      // whose share of the cluster file's accounts jobs use, as text_of() has it
  std::string limits = {};      // whom the cluster file's limits name, as text_of() has it
  bool tasks = false;           // some jobs have tasks for accelerators; what becomes of each no fact tells

  bool operator==(const JournalHead&) const = default;
};

// {"rota":"1.2.0","policy":"easy",...}, without a newline; what has its default is left out.
std::string head_text(const JournalHead& head);

// The same back. The error is a whole sentence without file and place.
Result<JournalHead> read_head(std::string_view text);

}  // namespace rota::store

namespace rota {

template <>
struct Fields<store::JournalHead> {
  using F = store::JournalHead;
  // NOLINTNEXTLINE(readability-identifier-naming): as in all these tables
  static constexpr std::tuple all{
      Field{"rota", &F::rota, "the version of Rota that wrote it"},
      Field{"policy", &F::policy, "the policy that decided, with its knobs"},
      Field{"processors", &F::processors, "of the cluster"},
      Field{"ties", &F::ties, "how events of one instant follow each other, where that was asked for"},
      Field{"cluster", &F::cluster, "the text of the cluster file, where there is one"},
      Field{"workload", &F::workload, "what was rehearsed"},
      Field{"settings", &F::settings, "whatever else was asked for"},
      Field{"unix_start", &F::unix_start, "Unix time of instant 0, where it is known"},
      Field{"shares", &F::shares,
            "by numbers, whose share of the cluster file's `[[accounts]]` each user and group has", 4},
      Field{"limits", &F::limits, "by numbers, the users and groups that the cluster file's `[[limits]]` name", 9},
      Field{"tasks", &F::tasks, "some jobs have tasks for accelerators; what becomes of each no fact tells"}};
};

}  // namespace rota
