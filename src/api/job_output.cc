#include "api/job_output.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "api/job_json.h"
#include "api/worker.h"
#include "base/file.h"
#include "base/text.h"

namespace rota::api {
namespace {

constexpr std::int64_t kMostBytes = 1 << 20;
constexpr std::size_t kMostUnderWay = 1000;  // behind a file that never answers, also of those who went away

// Opens a file with the rights of a user and no more. Where the service is not root it has no other rights anyway.
class AsUser {
 public:
  AsUser(std::uint32_t uid, std::uint32_t gid) : root_(::geteuid() == 0) {
    if (!root_) return;
    gid_ = static_cast<gid_t>(::setfsgid(gid));
    uid_ = static_cast<uid_t>(::setfsuid(uid));
    // -1 is nobody: it changes nothing and tells who is set.
    taken_ = ::setfsuid(static_cast<uid_t>(-1)) == static_cast<int>(uid) &&
             ::setfsgid(static_cast<gid_t>(-1)) == static_cast<int>(gid);
  }
  ~AsUser() {
    if (!root_) return;
    ::setfsuid(uid_);
    ::setfsgid(gid_);
  }
  bool taken() const { return taken_; }  // else nothing may be opened
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;

 private:
  bool root_;
  bool taken_ = true;
  uid_t uid_ = 0;
  gid_t gid_ = 0;
};

struct Piece {
  std::string bytes;
  std::int64_t size = 0;
  int error = 0;
};

// Its files have been opened.
bool begun(const Job& job) { return job.start != kNever && !job.starting; }

struct Rights {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

// On the other thread: the folder of a user may be one that answers late, or never.
Piece read_piece(const std::string& path, const Rights& rights, std::int64_t from) {
  Piece piece;
  int file = -1;
  {
    const AsUser as(rights.uid, rights.gid);
    errno = EPERM;
    if (as.taken()) file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    piece.error = file < 0 ? errno : 0;
  }
  if (file < 0) return piece;
  struct stat status{};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    piece.error = EINVAL;
  } else {
    piece.size = status.st_size;
    piece.bytes.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(piece.size - from, 0, kMostBytes)));
    const ssize_t got = ::pread(file, piece.bytes.data(), piece.bytes.size(), from);
    piece.error = got < 0 ? errno : 0;
    piece.bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  }
  ::close(file);
  return piece;
}

Response answer(const std::string& shown, const std::string& path, const Piece& piece, bool over) {
  if (piece.error != 0) {
    return problem(404, "the output of job " + shown + ", " + shown_path(path) + ", cannot be read: " +
                            (piece.error == EINVAL ? "it is no plain file" : std::strerror(piece.error)) + ".");
  }
  return {200,
          "application/octet-stream",
          piece.bytes,
          {{"Rota-Size", std::to_string(piece.size)}, {"Rota-Ended", over ? "yes" : "no"}}};
}

}  // namespace

void send_output(const Ask& ask, JobId id) {
  serve::Service& service = ask.service;
  const std::string shown(ask.path[2]);
  const auto kept = service.about(id);
  if (!kept) return ask.reply->send(problem(503, kept.error().message));
  if (!*kept) return ask.reply->send(problem(404, "job " + shown + " is not known any more."));
  if (!service.may_see_inside(ask.request.caller, (*kept)->about.uid)) {
    return ask.reply->send(problem(
        403, "job " + shown + " is " + (*kept)->about.user + "'s; only its user or an operator may see its output."));
  }
  std::int64_t from = 0;
  if (!take_number(ask, "from", from)) return;
  const auto stream = ask.request.query.find("stream");
  const bool error = stream != ask.request.query.end() && stream->second == "error";
  const serve::JobEntry* entry = service.book().find(id);
  const bool over = entry == nullptr || service.view().job(id).gone();
  if (entry && !over && !begun(service.view().job(id)))  // what may be in the file is not its own
    return ask.reply->send({200, "application/octet-stream", "", {{"Rota-Size", "0"}, {"Rota-Ended", "no"}}});
  nlohmann::json job = nlohmann::json::object();
  if (entry) {
    job = job_json(service, id, Detail::listed, false);
  } else if (const auto row = service.history_of(id); row && *row) {
    job = job_json(service, **row);
  }
  add_inside(service, id, **kept, job);
  if (over && !job.contains("start") && !job.contains("restarts"))
    return ask.reply->send(problem(404, "job " + shown +
                                            " has ended without ever running, so it has no output; `rota job " + shown +
                                            "` tells how it ended."));
  if (!job.contains(error && job.contains("error") ? "error" : "output"))
    return ask.reply->send(problem(404, "job " + shown + " writes to the terminal of who runs it, and to no file."));
  const std::string path = error && job.contains("error") ? job["error"] : job["output"];
  if (ask.reader.under_way() >= kMostUnderWay)
    return ask.reply->send(problem(503, "the output of many jobs is being read already; ask again in a moment."));
  const Rights rights{(*kept)->about.uid, (*kept)->about.gid};
  ask.reader.run([path, rights, from, over, shown, reply = ask.reply] {
    Piece piece = read_piece(path, rights, from);
    if (piece.error == ENOENT && !over) piece.error = 0;  // it has not begun yet
    return [path, over, shown, reply, piece = std::move(piece)] { reply->send(answer(shown, path, piece, over)); };
  });
}

}  // namespace rota::api
