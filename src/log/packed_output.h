// An output file that is packed if the ending of its name says so: .gz, .zst or .xz.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "log/packing.h"

namespace rota::log {

// A stream that packs what is written to it and passes it on to another, piece by piece. The rest goes out in finish();
// errors are those of the other stream.
class PackingStream : public std::ostream {
 public:
  PackingStream(std::ostream& to, Packing packing);  // not none
  ~PackingStream() override;
  void finish();

 private:
  class Buffer;
  std::unique_ptr<Buffer> buffer_;
};

// As OutputFile, which it stands on.
class PackedOutput {
 public:
  static Result<PackedOutput> create(const std::string& path);

  std::ostream& stream() { return packing_ ? *packing_ : file_->stream(); }
  bool failed() const { return file_->failed(); }
  Result<void> commit();

 private:
  explicit PackedOutput(OutputFile file) : file_(std::make_unique<OutputFile>(std::move(file))) {}
  std::unique_ptr<OutputFile> file_;
  std::unique_ptr<PackingStream> packing_;  // nullptr: the file is written as it is
};

}  // namespace rota::log
