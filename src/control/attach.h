// A job that runs at a person's terminal (`rota run`): what the process there asks for, and what it and the engine tell
// each other. That process listens on a socket; whatever executes the job connects to it when the job is to start and
// hands over open files, the other ends of the job's input and output. From then on each sends lines (base/words.h):
// the engine's side AttachNews, of which the first comes with the files that it names, and the near side AttachTell.
// The end of the connection tells each that the other is gone.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/attach.h"

namespace rota {

// How far one dispatch of a job is on the machine that executes it.
enum class RunPhase : std::uint8_t {
  claimed,    // not executed yet
  runs,       // executed
  suspended,  // stopped by a signal, to go on under another dispatch
  ended,      // its processes are gone
  failed,     // it could not be executed
};
constexpr std::array<std::string_view, 5> names_of(RunPhase) {
  return {"claimed", "runs", "suspended", "ended", "failed"};
}

// What it was told, if it was told to end.
enum class Asked : std::uint8_t { nothing, cancel, requeue, vacate, limit, hangup, move };
constexpr std::array<std::string_view, 7> names_of(Asked) {
  return {"nothing", "cancel", "requeue", "vacate", "limit", "hangup", "move"};
}

struct AttachNews {
  std::vector<std::string> files = {};  // "terminal", "input", "output", "error"
  RunPhase phase = RunPhase::claimed;
  Asked asked = Asked::nothing;
  int status = 0;  // ended: as waitpid says
  bool out_of_memory = false;
  std::string sentence = {};
};

template <class Visit, class Record>
  requires std::is_same_v<std::remove_const_t<Record>, AttachNews>
void fields(Visit&& visit, Record& news) {
  visit("files", news.files);
  visit("phase", news.phase);
  visit("asked", news.asked);
  visit("status", news.status);
  visit("out_of_memory", news.out_of_memory);
  visit("sentence", news.sentence);
}

// A signal for all processes of the job. A kind that is not known is read as `nothing`.
struct AttachTell {
  enum class Kind : std::uint8_t { nothing, signal };
  Kind kind = Kind::nothing;
  int number = 0;
};
constexpr std::array<std::string_view, 2> names_of(AttachTell::Kind) { return {"nothing", "signal"}; }

template <class Visit, class Record>
  requires std::is_same_v<std::remove_const_t<Record>, AttachTell>
void fields(Visit&& visit, Record& tell) {
  visit("kind", tell.kind);
  visit("number", tell.number);
}

}  // namespace rota
