// Pieces of files of users, read beside the event loop by processes that the spawner makes (file_reader.h). A file that
// hangs holds up nobody but who asks for it, and not the end of the service. Not thread-safe.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/id.h"
#include "engine/local/spawner_link.h"

namespace rota::local {

struct WantedPiece {
  JobId job;      // whose file it is
  uid_t uid = 0;  // as whom it is read where the service is root; else as the service
  gid_t gid = 0;
  std::string user;  // for further groups
  std::string file;
  std::int64_t from = 0;  // the first byte
};

struct FilePiece {
  std::string bytes = {};
  std::int64_t size = 0;  // of the whole file
  int error = 0;          // errno; EINVAL: it is no plain file; ETIMEDOUT: nothing came of it in time;
                          // EAGAIN: nothing will, as who was to read it could not begin, or was killed
};

class FileReadings {
 public:
  using Call = std::function<void(FilePiece)>;

  FileReadings(boost::asio::io_context& io, SpawnerLink& spawner) : io_(io), spawner_(spawner) {}
  FileReadings(const FileReadings&) = delete;
  FileReadings& operator=(const FileReadings&) = delete;
  ~FileReadings();  // nobody is called any more

  // `call` is called once, later. False, and it never is: too many readings for this job or user have not come to an
  // end, as of files that hang.
  bool begin(const WantedPiece& wanted, Call call);

 private:
  struct Reading;
  void watch(const std::shared_ptr<Reading>& reading);
  void ended(const std::shared_ptr<Reading>& reading);

  boost::asio::io_context& io_;
  SpawnerLink& spawner_;
  std::vector<std::shared_ptr<Reading>> under_way_;
};

}  // namespace rota::local
