#include "engine/local/attachment.h"

#include <fmt/core.h>

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include "base/words.h"
#include "process/descriptor.h"

namespace rota::local {

using process::connect_to;
using process::Descriptor;
using process::kLongestTold;
using process::read_piece;
using process::send_whole;
using process::take_line;

namespace {

std::string failed(const char* what) { return fmt::format("{} could not be made: {}.", what, std::strerror(errno)); }

// A process that had the file before shares its flags: it may make reads wait, and take what is there at any moment,
// also between a look and the reading. The clock ends such a wait.
ssize_t read_soon(int file, std::span<char> into) {
  struct sigaction heard{}, before{};
  heard.sa_handler = [](int) {};  // without SA_RESTART: it interrupts
  ::sigaction(SIGALRM, &heard, &before);
  sigset_t alarm{}, kept{};
  ::sigemptyset(&alarm);
  ::sigaddset(&alarm, SIGALRM);
  ::sigprocmask(SIG_UNBLOCK, &alarm, &kept);
  constexpr suseconds_t kSoon = 100'000;
  const itimerval again{{0, kSoon}, {0, kSoon}}, never{};
  ::setitimer(ITIMER_REAL, &again, nullptr);
  const ssize_t got = ::read(file, into.data(), into.size());
  const int error = errno;
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigprocmask(SIG_SETMASK, &kept, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  errno = error;
  return got;
}

// Whose rights count while this is there: those of the job's user, though this process may be root's.
class AsUser {
 public:
  // To find out the groups may take long; what is open can be written to without.
  enum class Groups : std::uint8_t { theirs, as_they_are };
  AsUser(const RunRequest& run, Groups groups) : other_(run.uid != kServiceUser && run.uid != ::geteuid()) {
    if (!other_) return;
    if (groups == Groups::theirs)
      taken_ = (run.user.empty() ? ::setgroups(1, &run.gid) : ::initgroups(run.user.c_str(), run.gid)) == 0;
    taken_ = taken_ && ::setegid(run.gid) == 0 && ::seteuid(run.uid) == 0;
  }
  ~AsUser() {
    const gid_t group = ::getgid();
    if (other_ && (::seteuid(::getuid()) != 0 || ::setegid(group) != 0 || ::setgroups(1, &group) != 0)) ::_exit(1);
  }
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;

  bool taken() const { return taken_; }

 private:
  bool other_;
  bool taken_ = true;
};

Descriptor open_as_user(const RunRequest& run, const std::string& path) {
  const AsUser user(run, AsUser::Groups::theirs);
  if (!user.taken()) return {};
  const mode_t mask = ::umask(run.umask);
  // Opening a FIFO, say, does not wait for a process at its other end: only a regular file will do.
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC | O_NONBLOCK, 0666));
  ::umask(mask);
  struct stat kind{};
  if (file && (::fstat(file.get(), &kind) != 0 || !S_ISREG(kind.st_mode))) file.reset();
  return file;
}

bool write_whole(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::string Attachment::open(const RunRequest& run) {
  if (run.attach.socket.empty()) return {};
  socket_ = connect_to(run.attach.socket, run.attach.user);
  if (!socket_) return "The terminal that the job was to run at is gone.";
  std::vector<int> handed;
  AttachNews news;
  if (std::string why = make(run, handed, news); !why.empty()) return why;
  if (!send_whole(socket_.get(), in_words(news), handed))
    return "The job's input and output could not be handed to who waits for it.";
  // Where the job may go on alone, the other ends of its outputs stay here; its input ends with its writer.
  std::erase_if(theirs_, [&](const Descriptor& file) {
    return !run.attach.keep || (::fcntl(file.get(), F_GETFL) & O_ACCMODE) == O_WRONLY;
  });
  return {};
}

std::string Attachment::make(const RunRequest& run, std::vector<int>& handed, AttachNews& news) {
  if (run.attach.terminal) {
    if (std::string why = make_terminal(run, handed, news); !why.empty()) return why;
    return run.attach.error_apart && run.error.empty() ? make_pipe("error", handed, news) : std::string();
  }
  std::string why;
  if (run.input.empty()) why = make_pipe("input", handed, news);
  if (why.empty() && run.output.empty()) why = make_pipe("output", handed, news);
  if (why.empty() && run.output.empty() && run.error.empty()) why = make_pipe("error", handed, news);
  return why;
}

// Its size stands before the job looks.
std::string Attachment::make_terminal(const RunRequest& run, std::vector<int>& handed, AttachNews& news) {
  Descriptor theirs(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!theirs || ::grantpt(theirs.get()) != 0 || ::unlockpt(theirs.get()) != 0) return failed("A terminal for the job");
  Descriptor job(::ioctl(theirs.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!job) return failed("A terminal for the job");
  const winsize size{run.attach.rows, run.attach.columns, 0, 0};
  ::ioctl(job.get(), TIOCSWINSZ, &size);
  const bool other = run.uid != kServiceUser && run.uid != ::geteuid();
  if (other && ::fchown(job.get(), run.uid, static_cast<gid_t>(-1)) != 0) return failed("A terminal for the job");
  streams_.output = Descriptor(::fcntl(job.get(), F_DUPFD_CLOEXEC, 3));
  streams_.input = std::move(job);
  streams_.terminal = true;
  handed.push_back(theirs.get());
  news.files.emplace_back("terminal");
  theirs_.push_back(std::move(theirs));
  return {};
}

std::string Attachment::make_pipe(std::string_view name, std::vector<int>& handed, AttachNews& news) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed("A pipe for the job");
  const bool input = name == "input";
  Descriptor job(ends[input ? 0 : 1]);
  Descriptor theirs(ends[input ? 1 : 0]);
  (input ? streams_.input : name == "output" ? streams_.output : streams_.error) = std::move(job);
  handed.push_back(theirs.get());
  news.files.emplace_back(name);
  theirs_.push_back(std::move(theirs));
  return {};
}

std::vector<int> Attachment::hear(bool& gone) {
  std::vector<int> signals;
  gone = !read_piece(socket_.get(), text_);
  std::string line;
  while (take_line(text_, line)) {
    AttachTell tell;
    read_words(line, tell);
    const bool known = tell.kind == AttachTell::Kind::signal && tell.number > 0 && tell.number < NSIG;
    if (known && std::ranges::find(signals, tell.number) == signals.end()) signals.push_back(tell.number);
  }
  gone = gone || text_.size() > kLongestTold;
  if (gone) socket_.reset();
  return signals;
}

void Attachment::tell(const RunRecord& record, RunPhase phase) {
  if (!socket_) return;
  const AttachNews news{.phase = phase,
                        .asked = record.asked,
                        .status = record.status,
                        .out_of_memory = record.out_of_memory,
                        .sentence = record.sentence};
  send_whole(socket_.get(), in_words(news));
}

std::string Attachment::go_on_alone(const RunRequest& run) {
  for (const Descriptor& file : theirs_) ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) | O_NONBLOCK);
  left_ = std::exchange(theirs_, {});
  if (!left_.empty() && !run.left_output.empty()) left_file_ = open_as_user(run, run.left_output);
  if (left_.empty() || run.left_output.empty() || left_file_) return {};
  return fmt::format("What it writes since its terminal is gone is lost: {} could not be opened as a file to write to.",
                     run.left_output);
}

// As its user also here: root may write beyond a quota.
void Attachment::keep(const RunRequest& run, std::string_view piece, std::string& lost) {
  if (!left_file_) return;
  const AsUser user(run, AsUser::Groups::as_they_are);
  if (user.taken() && write_whole(left_file_.get(), piece)) return;
  lost = fmt::format("What it writes since its terminal is gone is lost in part: {} could not be written: {}.",
                     run.left_output, std::strerror(errno));
  left_file_.reset();
}

bool Attachment::keep_what_is_left(const RunRequest& run, std::string& lost) {
  bool any = false;
  for (Descriptor& file : left_) {
    ::fcntl(file.get(), F_SETFL, O_NONBLOCK);
    pollfd waits{file.get(), POLLIN, 0};
    if (::poll(&waits, 1, 0) == 0) continue;
    std::array<char, 65536> piece;
    const ssize_t got = read_soon(file.get(), piece);
    if (got > 0) {
      any = true;
      keep(run, std::string_view(piece.data(), static_cast<std::size_t>(got)), lost);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      file.reset();
    }
  }
  std::erase_if(left_, [](const Descriptor& file) { return !file; });
  return any;
}

}  // namespace rota::local
