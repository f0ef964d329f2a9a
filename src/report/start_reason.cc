#include "report/start_reason.h"

#include "base/text.h"
#include "report/readable.h"

namespace rota::report {
namespace {

std::string beside(const StartNote& note) {
  if (note.promised < 0) return "backfilled beside what others are promised";
  const bool counted = note.lacks.empty() && note.where.empty();
  std::string text = std::string("backfilled on ") + (counted ? "processors that" : "what") + " job " +
                     std::to_string(note.promised) + " leaves over";
  if (!note.lacks.empty()) return text + ", which needs " + note.lacks;
  if (note.needed > note.free)
    text += ", which needs " + grouped(note.needed) + " (" + grouped(note.free) + " were free)";
  return text;
}

std::string before_promise(const StartNote& note, std::int64_t unix_start) {
  if (note.promised < 0) return "backfilled: it is expected to end before a promised start";
  std::string text = "backfilled: it is expected to end before job " + std::to_string(note.promised) + " is to start";
  if (note.promise < kEpoch + kForeseeable) text += ", " + readable(note.promise, unix_start);
  return text;
}

std::string passing(const StartNote& note) {
  return "backfilled: there was room for it and not for " +
         (note.promised < 0 ? std::string("the job before it") : "job " + std::to_string(note.promised)) +
         ", of which nothing tells when it can start, since a job without a limit is in its way";
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
    default:
      return "there was room for it";
  }
}

}  // namespace rota::report
