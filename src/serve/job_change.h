// What a caller wants done to a job.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "serve/submission.h"

namespace rota::serve {

struct JobChange {
  enum class Kind : std::uint8_t { cancel, signal, hold, release, requeue, suspend, resume, update };
  Kind kind = Kind::cancel;
  std::int32_t signal = 0;
  std::optional<Duration> limit = {};
  std::optional<std::int32_t> priority = {};
  std::optional<std::string> partition = {};
  std::optional<Instant> begin = {};
  std::optional<std::uint32_t> throttle = {};
  std::optional<LicencesAsked> licences = {};
  std::optional<std::string> name = {};
  std::optional<std::uint32_t> processors = {};
  std::optional<std::uint32_t> nodes = {};
  std::optional<std::int64_t> memory = {};
  std::optional<std::uint32_t> tasks = {};
  std::optional<std::uint32_t> tasks_per_node = {};
  KeptTexts labels = {};  // wishes that decide nothing (KeptAs::label); an empty text takes one away

  bool resizes() const { return processors || nodes || tasks || tasks_per_node; }
  // What only a job that waits can be given.
  bool is_for_waiting() const {
    return priority || partition || begin || licences || name || memory || resizes() || !labels.empty();
  }
};

// The words of the interface; a signal is a member of `cancel` there.
inline constexpr std::array<std::pair<std::string_view, JobChange::Kind>, 7> kJobActions{
    {{"cancel", JobChange::Kind::cancel},
     {"hold", JobChange::Kind::hold},
     {"release", JobChange::Kind::release},
     {"requeue", JobChange::Kind::requeue},
     {"suspend", JobChange::Kind::suspend},
     {"resume", JobChange::Kind::resume},
     {"update", JobChange::Kind::update}}};

}  // namespace rota::serve
