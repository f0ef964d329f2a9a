#include "report/start_reason.h"

#include <fmt/core.h>

#include "base/text.h"
#include "report/readable.h"

namespace rota::report {
namespace {

std::string beside(const StartNote& note) {
  if (note.promised < 0) return "backfilled beside what others are promised";
  const bool counted = note.lacks.empty() && note.where.empty();
  std::string text =
      fmt::format("backfilled on {} job {} leaves over", counted ? "processors that" : "what", note.promised);
  if (!note.lacks.empty()) return fmt::format("{}, which needs {}", text, note.lacks);
  if (note.needed > note.free)
    text += fmt::format(", which needs {} ({} were free)", grouped(note.needed), grouped(note.free));
  return text;
}

std::string before_promise(const StartNote& note, std::int64_t unix_start) {
  if (note.promised < 0) return "backfilled: it is expected to end before a promised start";
  std::string text = fmt::format("backfilled: it is expected to end before job {} is to start", note.promised);
  if (note.promise < kEpoch + kForeseeable) text += ", " + readable(note.promise, unix_start);
  return text;
}

std::string passing(const StartNote& note) {
  return fmt::format(
      "backfilled: there was room for it and not for {}, of which nothing tells when it can start, since a job without "
      "a limit is in its way",
      note.promised < 0 ? std::string("the job before it") : "job " + std::to_string(note.promised));
}

}  // namespace

std::string start_reason(const StartNote& note, std::int64_t unix_start) {
  switch (note.rule) {
    case Rule::head_fits:
      return "it was its turn, and there was room";
    case Rule::skipped_ahead:
      return "there was room for it and not for those before it, to whom nothing was promised";
    case Rule::ends_before_promise:
      return before_promise(note, unix_start);
    case Rule::beside_promise:
      return beside(note);
    case Rule::planned:
      return "its promised start had come";
    case Rule::passes_unforeseen:
      return passing(note);
    case Rule::within_reservation:
      return "its reservation had begun, and there was room within it";
    default:
      return "there was room for it";
  }
}

}  // namespace rota::report
