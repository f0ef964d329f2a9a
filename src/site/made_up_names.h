// Names in place of those that are not to be told: "account3", "user12". The same name is always called the same, and
// no two are.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace rota::site {

class MadeUpNames {
 public:
  enum class Of : std::uint8_t { user, account, qos, partition, licence, node, feature };
  static constexpr std::size_t kKinds = 7;

  // That name has this number, unless it has one. To be told before any name is asked for that has none.
  void number(Of kind, std::string_view real, std::uint32_t number);

  // A name without a number gets the one behind the greatest. An empty name stays so, and `root` among accounts, which
  // is the word of Slurm for the top of their tree. The text stands as long as this object.
  std::string_view name(Of kind, std::string_view real);

 private:
  struct Kind {
    std::map<std::string, std::string, std::less<>> names;  // by real name
    std::uint32_t last = 0;
  };
  std::array<Kind, kKinds> kinds_;
};

// By its real name where nothing is made up.
inline std::string_view called(MadeUpNames* names, MadeUpNames::Of kind, std::string_view real) {
  return names == nullptr ? real : names->name(kind, real);
}

}  // namespace rota::site
