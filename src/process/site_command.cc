#include "process/site_command.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ranges>
#include <utility>

#include "base/text.h"
#include "base/words.h"
#include "process/descriptor.h"
#include "process/process_table.h"
#include "process/spawn.h"

namespace rota::process {
namespace {

constexpr std::size_t kLongestLine = 200;

// It begins when it is told to: what began is always written down before.
constexpr const char* kWaits = R"(read -r go && exec /bin/sh -c "$1" </dev/null)";

struct CommandRecord {
  pid_t pid = 0;
  std::uint64_t began = 0;
};

template <class Visit, class Record>
  requires std::is_same_v<std::remove_const_t<Record>, CommandRecord>
void fields(Visit&& visit, Record& record) {
  visit("pid", record.pid);
  visit("began", record.began);
}

pid_t start(const SiteCommand::Options& options, int input, int output) {
  return spawn({.words = {"/bin/sh", "-c", kWaits, "rota-command", options.text},
                .files = {{input, 0}, {output, 1}, {output, 2}},
                .variables = options.variables,
                .apart = true});
}

void write_record(const std::string& path, pid_t pid) {
  if (path.empty()) return;
  const auto process = look_at(pid);
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file && process) add_line(file.get(), in_words(CommandRecord{pid, process->began}));
}

// The end of a text that is too long, without the line that the cut goes through, if others follow.
void keep_end(std::string& text, std::size_t most) {
  text.erase(0, text.size() - most);
  const std::size_t end = text.find('\n');
  if (end != std::string::npos && end + 1 < text.size()) text.erase(0, end + 1);
}

// The last line that says something, cut and printable.
std::string last_line(const std::string& output) {
  for (const auto& lines = split(output, '\n'); const std::string_view line : lines | std::views::reverse) {
    const std::string_view text = trimmed(line).substr(0, kLongestLine);
    if (text.empty()) continue;
    std::string shown(text);
    std::ranges::replace_if(shown, [](unsigned char c) { return c < 0x20 || c > 0x7E; }, '?');
    return ": " + shown;
  }
  return {};
}

SiteCommand::End end_of(int status, std::string output) {
  SiteCommand::End end{.ran = true, .done = status == 0, .why = {}, .output = std::move(output)};
  if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
  if (end.done) return end;
  end.why = WIFSIGNALED(status) ? std::string("was ended by signal ") + std::to_string(WTERMSIG(status))
                                : "ended with " + std::to_string(WEXITSTATUS(status));
  end.why += last_line(end.output);
  return end;
}

}  // namespace

struct SiteCommand::Running : std::enable_shared_from_this<SiteCommand::Running> {
  Running(boost::asio::io_context& io, OnEnd call, std::string path)
      : process(io), output(io), timer(io), on_end(std::move(call)), record(std::move(path)) {}

  boost::asio::posix::stream_descriptor process;  // readable once it has ended
  boost::asio::posix::stream_descriptor output;
  boost::asio::steady_timer timer;
  OnEnd on_end;
  std::string record;
  std::string text;
  std::size_t most = 0;  // bytes of it that are kept
  bool any = false;      // the last look brought some
  pid_t pid = 0;
  bool late = false;

  void listen() {
    output.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& error) {
                        if (error || !self->output.is_open()) return;
                        if (self->take_output()) self->listen();
                      });
  }

  // One piece: a command that writes without an end must not keep the service busy.
  bool take_output() {
    std::string piece;
    const bool open = read_piece(output.native_handle(), piece);
    any = !piece.empty();
    text += piece;
    if (text.size() > most) keep_end(text, most);
    return open;
  }

  // What lies in the pipe, but for what others may go on to write to it.
  void take_rest() {
    constexpr int kMostPieces = 64;
    for (int piece = 0; piece < kMostPieces; ++piece) {
      if (!take_output() || !any) return;
    }
  }

  void wait_for(Duration timeout) {
    process.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (!error && self->pid != 0) self->ended();
                       });
    timer.expires_after(std::chrono::milliseconds(timeout.count()));
    timer.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (error || self->pid == 0) return;
      self->late = true;
      ::kill(-self->pid, SIGKILL);
    });
  }

  // What it has left to run in the background may hold the pipe, and is not waited for.
  void ended() {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    take_rest();
    close();
    End end = end_of(status, std::move(text));
    if (late) end.why = "did not end in time and was killed";
    std::exchange(on_end, nullptr)(end);
  }

  void close() {
    pid = 0;
    if (!record.empty()) ::unlink(record.c_str());
    process.close();
    output.close();
    timer.cancel();
  }
};

SiteCommand::SiteCommand(boost::asio::io_context& io, const Options& options, OnEnd on_end)
    : running_(std::make_shared<Running>(io, std::move(on_end), options.record)) {
  running_->most = options.most_output;
  std::array<int, 2> go{-1, -1};
  std::array<int, 2> output{-1, -1};
  const bool pipes = ::pipe2(go.data(), O_CLOEXEC) == 0 && ::pipe2(output.data(), O_CLOEXEC) == 0;
  const Descriptor go_in(go[0]);
  const Descriptor go_out(go[1]);
  Descriptor theirs(output[1]);
  Descriptor ours(output[0]);
  running_->pid = pipes ? start(options, go_in.get(), theirs.get()) : 0;
  const auto process =
      running_->pid == 0 ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, running_->pid, 0));  // closes on exec
  if (process < 0) {
    End end{
        .ran = false, .done = false, .why = std::string("could not be started: ") + std::strerror(errno), .output = {}};
    if (running_->pid != 0) {  // it has not been told to begin, and never will be
      ::kill(running_->pid, SIGKILL);
      ::waitpid(running_->pid, nullptr, 0);
    }
    running_->close();
    boost::asio::post(io, [running = running_, end] {
      if (running->on_end) std::exchange(running->on_end, nullptr)(end);
    });
    return;
  }
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  running_->process.assign(process);
  running_->output.assign(ours.release());
  write_record(options.record, running_->pid);
  if (::write(go_out.get(), "go\n", 3) != 3) running_->late = true;  // it is gone already
  running_->listen();
  running_->wait_for(options.timeout);
}

SiteCommand::~SiteCommand() {
  running_->on_end = nullptr;
  if (running_->pid == 0) return;
  ::kill(-running_->pid, SIGKILL);
  ::waitpid(running_->pid, nullptr, 0);
  running_->close();
}

void SiteCommand::end_left_over(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return;
  std::string text = read_all(file.get());
  std::string line;
  CommandRecord record;
  if (take_line(text, line)) read_words(line, record);
  const auto process = record.pid > 1 ? look_at(record.pid) : std::nullopt;
  if (process && process->began == record.began) ::kill(-record.pid, SIGKILL);
  ::unlink(path.c_str());
}

}  // namespace rota::process
