// A terminal as one screen to draw on: the alternate screen, with keys as they are pressed. Whatever ends the program,
// the terminal is afterwards as it was.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace rota::cli {

struct Size {
  std::size_t columns = 80;
  std::size_t lines = 24;
};

// A key: a character, or one of these.
enum class Key : std::uint32_t {
  none = 0,
  enter = '\r',
  escape = 27,
  rubout = 127,
  up = 0x110000,
  down,
  page_up,
  page_down,
  home,
  end
};

// What came while it was waited for.
struct Happened {
  Key key = Key::none;
  bool resized = false;
  bool stop = false;  // SIGINT, SIGTERM or SIGHUP, or no user is at the keyboard any more
  bool woken = false;
};

// One at a time. Its signals are blocked for the whole process while it is there: threads that begin meanwhile have
// them blocked too.
class Terminal {
 public:
  // Fails with a sentence where standard input or output is no terminal that can be drawn on.
  static Result<std::unique_ptr<Terminal>> open();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  Size size() const;
  // Draws it if it is another picture than before: lines that fit, with CR and LF between them.
  void show(const std::string& picture);
  // Until something happens, wake() is called, or so many milliseconds have gone by.
  Happened wait(int milliseconds);
  // From any thread.
  void wake();

 private:
  Terminal() = default;
  Key next_key();
  void take_signal(Happened& happened);
  void stop_for_a_while();

  std::string shown_;
  std::string typed_;  // read and not yet taken
  int signals_ = -1;
  int wakes_ = -1;
};

}  // namespace rota::cli
