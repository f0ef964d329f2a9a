// The engine's folder, with a record of each run that may still be asked about, and the start of the system under which
// these were begun (docs/local-engine.md).
#pragma once

#include <string>

#include "base/result.h"
#include "process/descriptor.h"

namespace rota::local {

class RunFolder {
 public:
  RunFolder(std::string path, std::string boot) : path_(std::move(path)), boot_(std::move(boot)) {}

  // Makes the folder where it is not there. Fails with a sentence if it cannot be used.
  Result<void> open();
  int get() const { return folder_.get(); }
  const std::string& path() const { return path_; }  // absolute

  const std::string& boot() const { return boot_; }  // the id of the present start of the system
  bool rebooted() const { return rebooted_; }        // since the service's life before
  // Until then another life of the service, too, knows that the system was restarted.
  Result<void> write_boot();
  bool boot_written() const { return boot_written_; }

  // A run whose record or supervisor cannot be opened would be taken for one that never began, and begin twice.
  Result<void> can_open_more() const;
  // The record may be there: there are no files left to open, say.
  bool cannot_be_read(const std::string& name) const;

 private:
  std::string path_;
  std::string boot_;
  process::Descriptor folder_;
  bool rebooted_ = false;
  bool boot_written_ = false;
};

}  // namespace rota::local
