// A supervisor's end of its run's record on disk, and what a service may count on of it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "engine/local/record.h"
#include "process/descriptor.h"

namespace rota::local {

class RunLog {
 public:
  explicit RunLog(process::Descriptor file) : file_(std::move(file)) {}

  int file() const { return file_.get(); }
  bool is_removed() const;  // no service will ask any more
  // Adds a line; 0, or an error as errno has it. What a full disk has cut off does not spoil the next line.
  int add(const RunRecord& record);
  // Adds how the run fares, for a service that cannot ask: whether the job goes on, or begins anew where it may. That
  // it is suspended counts once it is kept, with its name in this folder, also if the power fails.
  void note(const RunRecord& record, const std::string& folder);
  // Tries once more, if that could not be kept. True: it is now, which is news.
  bool note_again(const RunRecord& record, const std::string& folder);
  // Before the record gets the key of another command.
  void before_key_of(const RunRecord& record);
  // As far as a service may count on it: a suspension is not carried out until kept.
  RunRecord as_kept(const RunRecord& record) const;

 private:
  void keep(const RunRecord& record, const std::string& folder);

  process::Descriptor file_;
  bool written_ = true;
  bool kept_ = true;
  std::uint64_t key_before_ = 0;
};

}  // namespace rota::local
