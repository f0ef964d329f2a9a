// The configuration's file as a service goes by it, with what its [[limits]] need of this computer: the numbers of the
// users and accounts that they name. Immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/limit_book.h"
#include "site/service_file.h"

namespace rota::serve {

// The number of a job that names an account, in place of its user's primary group. No group of this computer has it.
std::uint32_t account_number(std::string_view account);

struct FileInUse {
  std::shared_ptr<const site::Configuration> configuration;
  std::string limit_names = {};                       // as text_of() has them
  std::vector<std::string> unknown = {};              // users of [[limits]] that this computer does not know
  std::unique_ptr<const LimitBook> limits = nullptr;  // of its machine; nullptr: it has none

  // Looks names up on this computer, which may take long. An account may also be a group.
  static std::shared_ptr<const FileInUse> made(std::shared_ptr<const site::Configuration> file);
  // By the names that a journal's head has; those of this computer where that has none.
  static std::shared_ptr<const FileInUse> as_kept(std::shared_ptr<const site::Configuration> file,
                                                  const std::string& limit_names);
};

// They live as long as the file is in use.
inline std::shared_ptr<const LimitBook> limits_of(const std::shared_ptr<const FileInUse>& file) {
  return {file, file->limits.get()};
}

}  // namespace rota::serve
