#include "engine/slurm/mandate_folder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/words.h"
#include "process/clock.h"

namespace rota {

template <class Visit, class Record>
  requires std::is_same_v<std::remove_const_t<Record>, Mandate>
void fields(Visit&& visit, Record& record) {
  visit("mechanism", record.mechanism);
  visit("partition", record.partition);
  visit("mode", record.mode);
  visit("rule", record.rule);
  visit("until", record.until);
  visit("by", record.by);
  visit("since", record.since);
  visit("grant", record.grant);
  visit("fell", record.fell);
}

namespace slurm {

template <class Visit, class Record>
  requires std::is_same_v<std::remove_const_t<Record>, LogLine>
void fields(Visit&& visit, Record& record) {
  visit("at", record.at);
  visit("event", record.event);
  visit("mechanism", record.mechanism);
  visit("partition", record.partition);
  visit("grant", record.grant);
  visit("job", record.job);
  visit("from", record.from);
  visit("to", record.to);
  visit("by", record.by);
  visit("why", record.why);
  visit("whole", record.whole);
}

namespace {

std::unexpected<Error> cannot(const char* verb, const std::string& path) {
  return fail("Cannot {} {}: {}.", verb, shown_path(path), std::strerror(errno));
}

template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    visit(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
}

}  // namespace

void Written::add(const LogLine& line) {
  switch (line.event) {
    case LogEvent::write: {
      auto [at, is_new] = standing.try_emplace(line.job, JobWrites{.from = line.from});
      if (auto before = undone.extract(line.job); is_new && before) at->second.to = std::move(before.mapped().to);
      at->second.mechanism = line.mechanism;
      at->second.partition = line.partition;
      at->second.grant = line.grant;
      at->second.to.insert(line.to);
      return;
    }
    case LogEvent::undone:
      undone.insert(standing.extract(line.job));
      if (const auto at = undone.find(line.job); at != undone.end()) at->second.undone = line.at;
      return;
    case LogEvent::gone:
      standing.erase(line.job);
      [[fallthrough]];
    case LogEvent::settled:
      undone.erase(line.job);
      return;
    case LogEvent::failed:
    case LogEvent::mode:
      return;
  }
}

Result<void> MandateFolder::make() const {
  if (::mkdir(path_.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return cannot("make", path_);
}

Result<process::Descriptor> MandateFolder::lock(Duration patience) const {
  constexpr int kPause = 50;  // milliseconds
  const std::string path = file("lock");
  process::Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return cannot("open", path);
  for (Duration left = patience;; left -= Duration{kPause}) {
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
    if (errno != EWOULDBLOCK && errno != EINTR) return cannot("lock", path);
    if (left <= Duration{0})
      return fail("{} is held by a command that writes to Slurm, or by another `rota undo`; try again in a moment.",
                  shown_path(path));
    ::poll(nullptr, 0, kPause);
  }
}

Result<std::vector<Mandate>> MandateFolder::modes() const {
  std::vector<Mandate> modes;
  if (::access(file("modes").c_str(), F_OK) != 0 && errno == ENOENT) return modes;
  const auto text = TRY(read_file(file("modes")));
  for_each_line(text, [&](std::string_view line) { read_words(line, modes.emplace_back()); });
  return modes;
}

Result<void> MandateFolder::put_modes(const std::vector<Mandate>& modes) const {
  auto out = TRY(OutputFile::create(file("modes")));
  for (const Mandate& mandate : modes) out.stream() << in_words(mandate);
  TRY(out.commit());
  sync_folder(path_);
  return {};
}

Result<void> MandateFolder::add(std::span<const LogLine> lines) const {
  if (lines.empty()) return {};
  const std::string path = file("log");
  const process::Descriptor log(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log) return cannot("open", path);
  const off_t size = ::lseek(log.get(), 0, SEEK_END);
  char last = '\n';
  if (size > 0 && ::pread(log.get(), &last, 1, size - 1) != 1) return cannot("read", path);
  std::string text = last == '\n' ? "" : "\n";  // behind a line that was cut off
  for (const LogLine& line : lines) text += in_words(line);
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t wrote = ::write(log.get(), rest.data(), rest.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return cannot("write", path);
    rest.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (::fdatasync(log.get()) != 0) return cannot("write", path);
  if (size == 0) sync_folder(path_);
  return {};
}

Result<MandateFolder::Lines> MandateFolder::read_log(std::int64_t from) const {
  const std::string path = file("log");
  Lines read{.lines = {}, .end = from};
  const process::Descriptor log(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!log && errno == ENOENT) return read;
  if (!log) return cannot("open", path);
  std::string text;
  std::array<char, 65536> buffer{};
  for (std::int64_t at = from;;) {
    const ssize_t got = ::pread(log.get(), buffer.data(), buffer.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot("read", path);
    if (got == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    at += got;
  }
  for_each_line(text, [&](std::string_view line) {
    read.end += static_cast<std::int64_t>(line.size()) + 1;
    LogLine each{.whole = false};
    read_words(line, each);
    if (each.whole) read.lines.push_back(std::move(each));
  });
  return read;
}

void MandateFolder::beat() const {
  const process::Descriptor file_of(::open(file("heartbeat").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (file_of) static_cast<void>(::futimens(file_of.get(), nullptr));
}

std::optional<Duration> MandateFolder::since_heartbeat() const {
  struct stat status{};
  if (::stat(file("heartbeat").c_str(), &status) != 0) return std::nullopt;
  const std::int64_t then = status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1'000'000;
  return Duration{std::max<std::int64_t>(process::unix_milliseconds() - then, 0)};
}

std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// The lock is held by flock(1) and by what it runs, so that it outlives flock if that is killed.
std::string under_grant(const MandateFolder& folder, const std::string& grant, const std::string& command) {
  constexpr int kPatience = 60;  // seconds
  const std::string guarded = fmt::format("grep -qE '(^| )grant={}( |$)' {} || exit {}; {}", grant,
                                          shell_word(folder.file("modes")), kNoGrant, command);
  return fmt::format("exec flock -w {} {} /bin/sh -c {}", kPatience, shell_word(folder.file("lock")),
                     shell_word(guarded));
}

}  // namespace slurm
}  // namespace rota
