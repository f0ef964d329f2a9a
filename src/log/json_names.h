// Names in the place of numbers: of users, groups, queues and partitions in JSON lines.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "log/log_top.h"

namespace rota::log {

// Gives a number to every name: the one that the header of the log gives it, else the next above those, in order of
// appearance. A log that has both names and numbers which its header does not tie together cannot be understood.
class JsonNames {
 public:
  explicit JsonNames(NumberedNames& names) : names_(names) {}  // gets the new ones too; must outlive it

  void learn();  // what the header says is all in `names`
  // Whether it can be understood. The error is the end of a sentence that begins with the field's name.
  Result<void> check(std::string_view name) const;
  Result<void> check(std::int64_t number) const;
  // What was checked turns up in a job.
  std::uint32_t number_of_name(std::string_view name);
  void number_of_name(std::int64_t number);

 private:
  bool in_header(std::int64_t number) const;

  NumberedNames& names_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;  // kAmbiguous: of several
  std::uint32_t first_new_ = 1;                                // all in the header are below
  std::uint32_t next_ = 1;
  bool own_names_ = false;    // a name was there that the header does not have
  bool own_numbers_ = false;  // a number was there that the header does not have
};

}  // namespace rota::log
