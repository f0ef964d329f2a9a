// One line of JSON lines as a job. Strict: a field that is not known, said twice or of another type is refused by name.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "log/json_fields.h"
#include "log/json_names.h"
#include "log/log_top.h"

namespace rota::log {

class JsonJobParser {
 public:
  explicit JsonJobParser(LogTop& top);  // gets the names and host lists that turn up; must outlive it
  JsonJobParser(const JsonJobParser&) = delete;
  JsonJobParser& operator=(const JsonJobParser&) = delete;

  void learn();  // `top` has all that the header says
  // The line without its newline, into row (all but row.line) and attributes. Values are held to the same rules as
  // those of SWF; requested_processors are the processors where they are left out. `nodes` and `memory` are put into
  // both. The error is a whole sentence without file and line.
  Result<void> parse(std::string_view line, SwfRow& row, JobAttributes& attributes);

 private:
  friend class JsonJobEvents;
  std::size_t field_index(std::string_view name);  // of json_fields(), or how many there are
  // A field that is a number or has a name, which gets its number once the whole line has been understood.
  struct Named {
    Named(SwfField swf_field, NumberedNames& all) : field(swf_field), names(all) {}
    SwfField field;
    JsonNames names;
    std::string name;  // in this line; empty: a number, or nothing
  };
  Named& named(SwfField field);
  void take_names(SwfRow& row);

  LogTop& top_;
  std::array<Named, 4> named_;
  std::size_t next_ = 0;  // where to look for the next field first: most lines have theirs in one order
};

}  // namespace rota::log
