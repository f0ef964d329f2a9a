#include "cli/live/terminal.h"

#include <fmt/core.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace rota::cli {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?25h\x1b[?1049l";
constexpr int kRestOfKey = 30;  // milliseconds within which the rest of an arrow key's bytes comes
constexpr std::array kDefects{SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

termios before{};  // as the terminal was; one at a time

void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno != EINTR && errno != EAGAIN) return;
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void enter() {
  termios raw = before;
  ::cfmakeraw(&raw);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  put(kEnter);
}

// Calls nothing that a signal handler may not.
void leave() {
  put(kLeave);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

// A defect ends the program: the terminal is put back first, so that what it says can be read.
void leave_and_die(int number) {
  leave();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

sigset_t own_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP}) ::sigaddset(&set, number);
  return set;
}

}  // namespace

Result<std::unique_ptr<Terminal>> Terminal::open() {
  const char* kind = std::getenv("TERM");
  const bool plain = kind == nullptr || *kind == '\0' || std::strcmp(kind, "dumb") == 0;
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1 || plain || ::tcgetattr(STDIN_FILENO, &before) != 0)
    return fail("`rota top` draws on a terminal, and there is none; `rota queue -i 5` prints the queue every 5 s.");
  std::unique_ptr<Terminal> made(new Terminal);
  const sigset_t set = own_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  made->signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  made->wakes_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (made->signals_ < 0 || made->wakes_ < 0)
    return fail("the terminal cannot be waited for: {}.", std::strerror(errno));
  for (const int number : kDefects) std::signal(number, leave_and_die);
  enter();
  return made;
}

Terminal::~Terminal() {
  if (signals_ < 0 || wakes_ < 0) return;
  leave();
  for (const int number : kDefects) std::signal(number, SIG_DFL);
  ::close(signals_);
  ::close(wakes_);
  const sigset_t set = own_signals();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

Size Terminal::size() const {
  winsize asked{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &asked) != 0 || asked.ws_col == 0 || asked.ws_row == 0) return {};
  return {asked.ws_col, asked.ws_row};
}

void Terminal::show(const std::string& picture) {
  if (picture == shown_) return;
  put(fmt::format("\x1b[H{}\x1b[J", picture));
  shown_ = picture;
}

void Terminal::wake() {
  const std::uint64_t one = 1;
  if (::write(wakes_, &one, sizeof one) < 0) return;  // it is awake already
}

// As a shell's job control has it: the terminal is given back, and taken again when it goes on.
void Terminal::stop_for_a_while() {
  leave();
  ::kill(::getpid(), SIGSTOP);
  enter();
  shown_.clear();
}

void Terminal::take_signal(Happened& happened) {
  signalfd_siginfo what{};
  while (::read(signals_, &what, sizeof what) == static_cast<ssize_t>(sizeof what)) {
    if (what.ssi_signo == SIGWINCH) {
      happened.resized = true;
      shown_.clear();
    } else if (what.ssi_signo == SIGTSTP) {
      stop_for_a_while();
      happened.resized = true;
    } else {
      happened.stop = true;
    }
  }
}

Key Terminal::next_key() {
  struct Sequence {
    std::string_view bytes;
    Key key;
  };
  constexpr std::array kSequences{
      Sequence{"\x1b[A", Key::up},   Sequence{"\x1b[B", Key::down},     Sequence{"\x1bOA", Key::up},
      Sequence{"\x1bOB", Key::down}, Sequence{"\x1b[5~", Key::page_up}, Sequence{"\x1b[6~", Key::page_down},
      Sequence{"\x1b[H", Key::home}, Sequence{"\x1b[F", Key::end},      Sequence{"\x1bOH", Key::home},
      Sequence{"\x1bOF", Key::end},  Sequence{"\x1b[1~", Key::home},    Sequence{"\x1b[4~", Key::end}};
  if (typed_.empty()) return Key::none;
  for (const Sequence& sequence : kSequences) {
    if (!typed_.starts_with(sequence.bytes)) continue;
    typed_.erase(0, sequence.bytes.size());
    return sequence.key;
  }
  if (typed_.size() > 1 && typed_[0] == '\x1b' &&
      (typed_[1] == '[' || typed_[1] == 'O')) {  // a key that means nothing here
    std::size_t last = 2;
    while (last < typed_.size() && (typed_[last] < '@' || typed_[last] > '~')) ++last;
    typed_.erase(0, last + 1);
    return Key::none;
  }
  const auto byte = static_cast<unsigned char>(typed_[0]);
  typed_.erase(0, 1);
  return byte == '\b' ? Key::rubout : byte == '\n' ? Key::enter : Key{byte};
}

Happened Terminal::wait(int milliseconds) {
  Happened happened;
  if (!typed_.empty()) {
    happened.key = next_key();
    return happened;
  }
  std::array<pollfd, 3> ready{{{STDIN_FILENO, POLLIN, 0}, {signals_, POLLIN, 0}, {wakes_, POLLIN, 0}}};
  ::poll(ready.data(), ready.size(), milliseconds);
  if (ready[1].revents != 0) take_signal(happened);
  if (ready[2].revents != 0) {
    std::uint64_t count = 0;
    happened.woken = ::read(wakes_, &count, sizeof count) > 0;
  }
  if (ready[0].revents == 0) return happened;
  for (int rest = 0; ::poll(ready.data(), 1, rest) > 0; rest = typed_ == "\x1b" ? kRestOfKey : 0) {
    std::array<char, 256> bytes{};
    const ssize_t n = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (n <= 0) {
      happened.stop = true;
      return happened;
    }
    typed_.append(bytes.data(), static_cast<std::size_t>(n));
  }
  happened.key = next_key();
  return happened;
}

}  // namespace rota::cli
