#include "base/file.h"

#include <fmt/core.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <streambuf>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace rota {

std::string marked_path(const std::string& path, std::string_view mark) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  const auto ending_before = [&](std::size_t end) {
    const std::size_t dot = end > name ? path.rfind('.', end - 1) : std::string::npos;
    return dot == std::string::npos || dot <= name ? end : dot;  // a dot at the beginning hides a file
  };
  std::size_t end = ending_before(path.size());
  const std::string packing = path.substr(end);
  if (packing == ".gz" || packing == ".zst" || packing == ".xz") end = ending_before(end);
  return fmt::format("{}-{}{}", path.substr(0, end), mark, path.substr(end));
}

namespace {

constexpr int kTries = 100;  // names for a temporary file

std::string reason(int error) { return std::strerror(error); }

// What to do about the commonest reasons for which a file cannot be read or written.
std::string advice(int error) {
  switch (error) {
    case ENOENT:
      return " Check the spelling of the path.";
    case EACCES:
    case EPERM:
    case EROFS:
      return " Check the permissions of the file and its folder, or choose another path.";
    case ENOSPC:
    case EDQUOT:
      return " Free some space or choose another path.";
    case EPIPE:
      return " The program that reads the output has ended.";
    default:
      return "";
  }
}

std::unexpected<Error> cannot(const char* verb, const std::string& shown, int error) {
  return fail("Cannot {} {}: {}.{}", verb, shown, reason(error), advice(error));
}

// Writes everything or gives the errno.
int write_all(int descriptor, const char* from, std::size_t size) {
  while (size > 0) {
    const ssize_t done = ::write(descriptor, from, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    from += done;
    size -= static_cast<std::size_t>(done);
  }
  return 0;
}

// A stream over a descriptor that remembers the first error.
class DescriptorBuffer final : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor) { reset(); }
  int error() const { return error_; }

  int flush() {
    if (error_ == 0) error_ = write_all(descriptor_, pbase(), static_cast<std::size_t>(pptr() - pbase()));
    reset();
    return error_;
  }

 protected:
  int_type overflow(int_type c) override {
    if (flush() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  int sync() override { return flush() == 0 ? 0 : -1; }

 private:
  void reset() { setp(buffer_.data(), buffer_.data() + buffer_.size()); }
  int descriptor_;
  int error_ = 0;
  std::array<char, 65536> buffer_{};
};

}  // namespace

std::string shown_path(const std::string& path) { return escaped(path) == path ? path : rota::quoted(path); }

bool same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  const auto place = [](const std::string& path) -> fs::path {
    std::error_code unknown;
    if (path.empty() || path == "-" || (fs::exists(path, unknown) && !fs::is_regular_file(path, unknown))) return {};
    const fs::path whole = fs::weakly_canonical(fs::absolute(path, unknown), unknown);
    return unknown ? fs::path(path) : whole;
  };
  std::error_code neither;
  const fs::path at = place(a);
  const fs::path other = place(b);
  return !at.empty() && !other.empty() && (at == other || fs::equivalent(at, other, neither));
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::vector<std::string> places_of_shared_object(const std::string& name) {
  std::error_code none;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
  return {folder / name, folder.parent_path() / "lib" / "rota" / name};
}

void sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

InputFile::InputFile(int descriptor, std::int64_t size, std::string shown)
    : descriptor_(descriptor), size_(size), shown_(std::move(shown)) {}

InputFile::InputFile(InputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_), shown_(std::move(other.shown_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(shown_, other.shown_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

Result<InputFile> InputFile::open(const std::string& path) {
  if (path == "-") return InputFile(STDIN_FILENO, -1, "standard input");
  if (path.empty()) return fail("Cannot read a file without a name; give a path, or - for standard input.");
  const std::string shown = shown_path(path);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return cannot("read", shown, errno);
  InputFile file(descriptor, -1, shown);
  struct stat facts{};
  if (::fstat(descriptor, &facts) != 0) return cannot("read", shown, errno);
  if (S_ISDIR(facts.st_mode)) return fail("Cannot read {}: it is a folder; give a file in it.", shown);
  if (S_ISREG(facts.st_mode)) file.size_ = facts.st_size;
  return file;
}

Result<std::size_t> InputFile::read(char* buffer, std::size_t most) {
  for (;;) {
    const ssize_t got = ::read(descriptor_, buffer, most);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return cannot("read", shown_, errno);
  }
}

Result<std::string> read_file(const std::string& path, std::size_t most) {
  auto file = TRY(InputFile::open(path));
  std::string text;
  for (std::size_t used = 0;;) {
    const std::size_t expected = file.size() > 0 ? static_cast<std::size_t>(file.size()) + 1 : 65536;
    if (used == text.size()) text.resize(std::min(std::max(used * 2, expected), most + 1));
    const auto got = TRY(file.read(text.data() + used, text.size() - used));
    used += got;
    if (used > most)
      return fail("{} is larger than {}; that is too much for this kind of file.", file.shown(),
                  format_size(static_cast<std::int64_t>(most)));
    if (got == 0) {
      text.resize(used);
      return text;
    }
  }
}

struct OutputFile::State {
  State(int fd, std::string to, std::string from)
      : descriptor(fd), target(std::move(to)), temporary(std::move(from)), buffer(fd), stream(&buffer) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (descriptor > STDERR_FILENO) ::close(descriptor);
    if (!temporary.empty() && !nameless) ::unlink(temporary.c_str());
  }

  int descriptor;
  std::string target;     // what the finished file is called; for messages too
  std::string temporary;  // empty: written in place
  bool nameless = false;  // the file has no name at all until commit() gives it the temporary one
  DescriptorBuffer buffer;
  std::ostream stream;
};

namespace {

struct Opened {
  int descriptor = -1;
  int error = 0;
  std::string temporary;
  bool nameless = false;
};

std::string temporary_name(const std::string& target, int attempt) {
  return fmt::format("{}.{}-{}.tmp", target, ::getpid(), attempt);
}

// A file without a name, which the system removes by itself if this process is killed before it has one. Not every file
// system can do that, and giving it a name takes /proc.
Opened open_nameless(const std::string& target, mode_t mode) {
  Opened out;
  if (::access("/proc/self/fd", X_OK) != 0) return out;
  out.descriptor = ::open(folder_of(target).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
  out.nameless = out.descriptor >= 0;
  return out;
}

// Gives such a file a name beside its target, from where it can be renamed over it; the name, or "" and errno.
std::string name_beside(int descriptor, const std::string& target) {
  const std::string self = "/proc/self/fd/" + std::to_string(descriptor);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    std::string name = temporary_name(target, attempt);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return name;
    if (errno != EEXIST) return "";
  }
  return "";
}

// Creates a new file beside target. O_EXCL and not mkstemp, so that the umask decides which users may read it.
Opened open_beside(const std::string& target, mode_t mode) {
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Opened out;
    out.temporary = temporary_name(target, attempt);
    out.descriptor = ::open(out.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    out.error = out.descriptor < 0 ? errno : 0;
    if (out.error != EEXIST) return out;
  }
  return {-1, EEXIST, {}, false};
}

// The file that path really names, be it there yet or not, so that a symbolic link survives being written through. Of
// links in a circle, one of them.
std::string real_target(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) == 0) {
    char* const resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr) return path;  // a pipe such as /dev/stdout has no other name that leads to it
    std::string out = resolved;
    std::free(resolved);  // NOLINT(cppcoreguidelines-no-malloc): realpath allocates it so
    return out;
  }
  std::error_code error;
  std::filesystem::path target = path;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(target, error); ++links) {
    const std::filesystem::path to = std::filesystem::read_symlink(target, error);
    if (error) return path;
    target = target.parent_path() / to;
  }
  return target;
}

}  // namespace

OutputFile::OutputFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Result<OutputFile> OutputFile::create(const std::string& path) {
  if (path.empty()) return fail("Cannot write a file without a name; give a path, or - for standard output.");
  if (path == "-") return OutputFile(std::make_unique<State>(STDOUT_FILENO, "standard output", ""));
  const std::string target = real_target(path);
  struct stat facts{};
  const bool exists = ::stat(target.c_str(), &facts) == 0;
  if (!exists && errno == ELOOP) return cannot("write", shown_path(path), ELOOP);
  if (exists && S_ISDIR(facts.st_mode)) return fail("Cannot write {}: it is a folder.", shown_path(path));
  if (exists && !S_ISREG(facts.st_mode)) {
    const int descriptor = ::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) return cannot("write", shown_path(path), errno);
    return OutputFile(std::make_unique<State>(descriptor, target, ""));
  }
  if (exists && ::access(target.c_str(), W_OK) != 0) return cannot("write", shown_path(path), errno);
  Opened opened = open_nameless(target, 0666);
  if (!opened.nameless) opened = open_beside(target, 0666);
  if (opened.descriptor < 0) return cannot("write", shown_path(path), opened.error);
  if (exists) static_cast<void>(::fchmod(opened.descriptor, facts.st_mode & 07777U));
  auto state = std::make_unique<State>(opened.descriptor, target, std::move(opened.temporary));
  state->nameless = opened.nameless;
  return OutputFile(std::move(state));
}

std::ostream& OutputFile::stream() { return state_->stream; }

bool OutputFile::failed() const { return state_->buffer.error() != 0; }

Result<void> OutputFile::commit() {
  State& s = *state_;
  const std::string shown = shown_path(s.target);
  CHECK(s.descriptor >= 0, "an output file is committed once");
  int error = s.buffer.flush();
  const bool in_place = s.temporary.empty() && !s.nameless;
  if (error == 0 && !in_place && ::fsync(s.descriptor) != 0) error = errno;
  if (error == 0 && s.nameless) {
    s.temporary = name_beside(s.descriptor, s.target);
    if (s.temporary.empty()) error = errno;
    s.nameless = s.temporary.empty();
  }
  if (s.descriptor > STDERR_FILENO && ::close(s.descriptor) != 0 && error == 0) error = errno;
  s.descriptor = -1;
  if (error == 0 && !in_place && ::rename(s.temporary.c_str(), s.target.c_str()) != 0) error = errno;
  if (error != 0) return cannot("write", shown, error);
  if (!in_place) sync_folder(folder_of(s.target));
  s.temporary.clear();
  return {};
}

}  // namespace rota
