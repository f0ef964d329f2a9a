#include "cli/live/attached.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "base/text.h"
#include "base/words.h"
#include "process/clock.h"

namespace rota::cli {
namespace {

using process::Descriptor;

constexpr std::array kPassedOn{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};
constexpr std::size_t kPiece = 65536;
constexpr std::size_t kSmall = 4096;  // so much goes into a pipe that can be written to, without waiting

bool ignored(int number) {
  struct sigaction action{};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

CaughtSignals::CaughtSignals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : kPassedOn) {
    if (!ignored(number)) ::sigaddset(&set, number);
  }
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // an output that is not read any more is closed for the job
  file_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::optional<int> CaughtSignals::next() {
  signalfd_siginfo news{};
  if (::read(file_.get(), &news, sizeof(news)) != sizeof(news)) return std::nullopt;
  return static_cast<int>(news.ssi_signo);
}

Attach attach_here(bool terminal) {
  Attach attach;
  attach.terminal = terminal && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
  attach.error_apart = ::isatty(STDERR_FILENO) == 0;
  if (winsize size{}; ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    attach.rows = size.ws_row;
    attach.columns = size.ws_col;
  }
  return attach;
}

void RawTerminal::enter() {
  termios now{};
  if (before_ || ::tcgetattr(STDIN_FILENO, &now) != 0) return;
  before_ = now;
  enter_again();
}

void RawTerminal::enter_again() const {
  if (!before_) return;
  termios raw = *before_;
  ::cfmakeraw(&raw);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

void RawTerminal::leave() {
  if (before_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
  before_.reset();
}

Result<void> Attached::open(Descriptor socket) {
  constexpr int kPatienceMilliseconds = 60'000;
  socket_ = std::move(socket);
  pollfd ready{socket_.get(), POLLIN, 0};
  std::string line;
  while (!process::take_line(text_, line)) {
    if (::poll(&ready, 1, kPatienceMilliseconds) == 0 || !process::receive(socket_.get(), text_, files_))
      return fail("The job's input and output did not come through.");
  }
  read_words(line, news_);
  if (news_.files.size() > files_.size()) return fail("The job's input and output did not come through.");
  for (std::size_t i = 0; i < news_.files.size(); ++i) start(news_.files[i], files_[i].get());
  tell_size();
  return {};
}

void Attached::start(std::string_view name, int file) {
  ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) | O_NONBLOCK);
  if (name == "terminal") {
    terminal_ = file;
    raw_.enter();
  }
  if (name == "terminal" || name == "input") pumps_.push_back({.from = STDIN_FILENO, .to = file, .to_job = true});
  if (name == "terminal" || name == "output") pumps_.push_back({.from = file, .to = STDOUT_FILENO});
  if (name == "error") pumps_.push_back({.from = file, .to = STDERR_FILENO});
}

Attached::Event Attached::copy(CaughtSignals& signals) {
  while (true) {
    std::vector<pollfd> watched{{signals.file(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
    for (const Pump& pump : pumps_) {
      const bool reads = pump.held.empty();
      watched.push_back({reads ? pump.from : pump.to, static_cast<short>(reads ? POLLIN : POLLOUT), 0});
    }
    constexpr int kLook = 100;  // milliseconds
    const int ready = ::poll(watched.data(), watched.size(), !socket_ ? 0 : hang_up_at_ == 0 ? -1 : kLook);
    if (ready < 0) continue;
    hang_up_if_due();
    if (watched[0].revents != 0) {
      while (const auto signal = signals.next()) {
        if (const auto event = pass_on(*signal)) return *event;
      }
    }
    if (watched[1].revents != 0) {
      if (const auto event = hear()) return *event;
    }
    std::vector<short> events;
    bool output = false;  // something that the job has written is on its way
    auto pump = pumps_.begin();
    for (std::size_t i = 2; i < watched.size(); ++i, ++pump) {
      events.push_back(watched[i].revents);
      output = output || (!pump->to_job && (watched[i].revents != 0 || !pump->held.empty()));
    }
    if (const auto event = pump_all(events)) return *event;
    if (!socket_ && !output) {
      raw_.leave();
      return Event::over;
    }
  }
}

std::optional<Attached::Event> Attached::pump_all(const std::vector<short>& ready) {
  std::optional<Event> event;
  std::size_t i = 0;
  for (auto at = pumps_.begin(); at != pumps_.end(); ++i) {
    if (ready[i] != 0) {
      const auto happened = at->held.empty() ? read(*at) : std::nullopt;
      if (happened) event = happened;
      if (!at->held.empty()) write(*at);
    }
    const bool done = at->ended && at->held.empty();
    if (done) close_job_file(at->to_job ? at->to : at->from);
    at = done ? pumps_.erase(at) : std::next(at);
  }
  return event;
}

std::optional<Attached::Event> Attached::read(Pump& pump) {
  std::array<char, kPiece> piece;
  const ssize_t got = ::read(pump.from, piece.data(), piece.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (got <= 0) {
    pump.ended = true;  // of a terminal whose last process has ended the error is EIO
    if (pump.to_job && terminal_ >= 0) return Event::hung_up;
    return std::nullopt;
  }
  const std::string_view text(piece.data(), static_cast<std::size_t>(got));
  if (!pump.to_job || terminal_ < 0) {
    pump.held = text;
    return std::nullopt;
  }
  const EscapeKeys::Wish wish = keys_.read_keys(text, pump.held);
  if (wish == EscapeKeys::Wish::nothing) return std::nullopt;
  return wish == EscapeKeys::Wish::cancel ? Event::cancel : Event::help;
}

// This process's own files are shared with others, and wait; so no more is written to one than goes without.
void Attached::write(Pump& pump) {
  const std::size_t size = pump.to_job ? pump.held.size() : std::min(pump.held.size(), kSmall);
  const ssize_t done = ::write(pump.to, pump.held.data(), size);
  if (done < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (done < 0) {
    pump.held.clear();
    pump.ended = true;  // it is not read any more
  } else {
    pump.held.erase(0, static_cast<std::size_t>(done));
  }
}

// By this the job notices that nothing more comes, or that its output is not read. A terminal has both in one.
void Attached::close_job_file(int file) {
  if (file != terminal_) std::erase_if(files_, [&](const Descriptor& each) { return each.get() == file; });
}

std::optional<Attached::Event> Attached::hear() {
  const bool open = process::receive(socket_.get(), text_, files_);
  std::string line;
  std::optional<Event> event;
  while (process::take_line(text_, line)) {
    news_ = {};
    read_words(line, news_);
    event = Event::told;
    if (news_.phase == RunPhase::ended || news_.phase == RunPhase::failed) break;
  }
  const bool over = news_.phase == RunPhase::ended || news_.phase == RunPhase::failed;
  if (!open || over) socket_.reset();
  return event;
}

std::optional<Attached::Event> Attached::pass_on(int signal) {
  constexpr std::int64_t kSoon = 1000;  // milliseconds
  if (signal == SIGWINCH) {
    tell_size();
    return std::nullopt;
  }
  if (signal == SIGCONT) {
    raw_.enter_again();
    tell_size();
    return std::nullopt;
  }
  if (signal == SIGHUP) return Event::hung_up;  // which the supervisor sees by itself
  if (socket_) {
    process::send_whole(socket_.get(), in_words(AttachTell{AttachTell::Kind::signal, signal}));
  }
  if (signal != SIGINT) return std::nullopt;
  const std::int64_t now = process::boot_milliseconds();
  const bool soon = now - std::exchange(interrupted_, now) <= kSoon;
  return soon ? Event::cancel : Event::again;
}

void Attached::hang_up_soon() {
  constexpr std::int64_t kWhile = 2000;
  if (terminal_ >= 0 && hang_up_at_ == 0) hang_up_at_ = process::boot_milliseconds() + kWhile;
}

void Attached::hang_up_if_due() {
  if (hang_up_at_ == 0 || !socket_ || process::boot_milliseconds() < hang_up_at_) return;
  hang_up_at_ = 0;
  process::send_whole(socket_.get(), in_words(AttachTell{AttachTell::Kind::signal, SIGHUP}));
}

void Attached::tell_size() const {
  winsize size{};
  if (terminal_ >= 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) ::ioctl(terminal_, TIOCSWINSZ, &size);
}

void Attached::say(std::string_view sentence) const {
  const bool raw = raw_.entered();
  std::fprintf(stderr, "%s%s%s\n", raw ? "\r" : "", escaped(sentence).c_str(), raw ? "\r" : "");
}

}  // namespace rota::cli
