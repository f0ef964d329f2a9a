// Pieces of files of users, read beside the event loop by processes that the spawner makes (file_reader.h). A file that
// hangs holds up only the caller that asks for it, and not the end of the service. Not thread-safe.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <vector>

#include "control/live_engine.h"
#include "engine/local/spawner_link.h"

namespace rota::local {

class FileReadings final : public OutputReader {
 public:
  FileReadings(boost::asio::io_context& io, SpawnerLink& spawner) : io_(io), spawner_(spawner) {}
  FileReadings(const FileReadings&) = delete;
  FileReadings& operator=(const FileReadings&) = delete;
  ~FileReadings() override;  // no callback is called any more

  bool begin(const Wanted& wanted, Call call) override;

 private:
  struct Reading;
  void watch(const std::shared_ptr<Reading>& reading);
  void ended(const std::shared_ptr<Reading>& reading);

  boost::asio::io_context& io_;
  SpawnerLink& spawner_;
  std::vector<std::shared_ptr<Reading>> under_way_;
};

}  // namespace rota::local
