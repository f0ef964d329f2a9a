// The near side of a job that runs at this terminal (control/attach.h): copies between the job's streams and
// this process's own, passes signals and the size of the window on, and keeps what is told of the job.
#pragma once

#include <termios.h>

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/live/escape_keys.h"
#include "control/attach.h"
#include "process/descriptor.h"

namespace rota::cli {

// Signals that are read from a file instead of ending this process, for as long as this is there. A signal that was
// ignored when the process began stays ignored.
class CaughtSignals {
 public:
  CaughtSignals();
  CaughtSignals(const CaughtSignals&) = delete;
  CaughtSignals& operator=(const CaughtSignals&) = delete;

  int file() const { return file_.get(); }  // to be polled for reading
  std::optional<int> next();                // one that has come

 private:
  process::Descriptor file_;
};

// Where a job is to run: at a terminal of its own if input and output here are one, else at pipes. The socket is the
// caller's.
Attach attach_here(bool terminal);

// A terminal whose keys come one by one and are shown by the job alone; given back as it was.
class RawTerminal {
 public:
  RawTerminal() = default;
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal() { leave(); }
  void enter();
  void enter_again() const;  // after this process was stopped
  void leave();
  bool entered() const { return before_.has_value(); }

 private:
  std::optional<termios> before_;
};

class Attached {
 public:
  // What the caller is to do about the job.
  enum class Event {
    told,     // news() has changed
    again,    // an interrupt was passed on, and another one soon will be a wish to cancel
    cancel,   // the user wants it cancelled
    help,     // or to know what to type
    hung_up,  // this process is to end
    over,     // the supervisor is gone, and all that the job has written was copied
  };

  // With a supervisor's connection; waits for what it hands over. Fails where that does not come.
  Result<void> open(process::Descriptor socket);

  // Copies until something happens.
  Event copy(CaughtSignals& signals);

  const AttachNews& news() const { return news_; }
  // In a while, so that it may end by SIGTERM before: a job that has a terminal hears that it is closed. Shells at a
  // terminal do not end otherwise.
  void hang_up_soon();
  void say(std::string_view sentence) const;  // on standard error, however the terminal is set

 private:
  // Bytes from one file to another, as they can be read and written.
  struct Pump {
    int from = -1;
    int to = -1;
    bool to_job = false;
    std::string held = {};
    bool ended = false;  // nothing more comes
  };

  void start(std::string_view name, int file);
  std::optional<Event> pump_all(const std::vector<short>& ready);
  std::optional<Event> read(Pump& pump);
  void write(Pump& pump);
  void close_job_file(int file);
  std::optional<Event> hear();
  std::optional<Event> pass_on(int signal);
  void hang_up_if_due();
  void tell_size() const;

  process::Descriptor socket_;
  std::string text_;  // read from it
  std::deque<process::Descriptor> files_;
  std::list<Pump> pumps_;
  AttachNews news_;
  EscapeKeys keys_;
  RawTerminal raw_;
  std::int64_t hang_up_at_ = 0;               // milliseconds since the boot; 0: never
  int terminal_ = -1;                         // the job's; -1: it has none
  std::int64_t interrupted_ = INT64_MIN / 2;  // when, in milliseconds since the system's start
};

}  // namespace rota::cli
