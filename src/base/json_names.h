// Which name stands twice in one object of a JSON text: RFC 8259 leaves open what that means, and parsers keep one of
// the two in silence. For nlohmann::json's parser, as its callback, by std::ref; this room does not know the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rota {

template <class Json>
class JsonNames {
 public:
  // An object with more members than that is not read on: of such a text nothing is to be used.
  explicit JsonNames(std::size_t most = SIZE_MAX) : most_(most) {}

  bool operator()(int /*depth*/, typename Json::parse_event_t event, const Json& parsed) {
    using Event = typename Json::parse_event_t;
    if (too_many_) return false;
    if (event == Event::object_start) open_.emplace_back();
    if (event == Event::object_end) open_.pop_back();
    if (event != Event::key) return true;
    if (open_.back().size() == most_) {
      too_many_ = true;
      return false;
    }
    auto name = parsed.template get<std::string>();
    if (!twice_ && open_.back().contains(name)) twice_ = name;
    open_.back().insert(std::move(name));
    return true;
  }

  const std::optional<std::string>& twice() const { return twice_; }  // the first such name
  bool too_many() const { return too_many_; }

 private:
  std::size_t most_;
  std::vector<std::set<std::string, std::less<>>> open_;  // names in the objects that have not ended
  std::optional<std::string> twice_;
  bool too_many_ = false;
};

}  // namespace rota
