#include "engine/local/record.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/words.h"
#include "process/descriptor.h"

namespace rota::local {

using process::Descriptor;
using process::read_all;

std::optional<RunRecord> read_record(int folder, const std::string& name) {
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  const std::string text = read_all(file.get());
  RunRecord record;
  bool any = false;
  for (std::size_t from = 0, end = 0; (end = text.find('\n', from)) != std::string::npos; from = end + 1) {
    read_words(std::string_view(text).substr(from, end - from), record);
    any = true;
  }
  if (!any) return std::nullopt;
  return record;
}

}  // namespace rota::local
