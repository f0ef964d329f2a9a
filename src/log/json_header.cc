#include "log/json_header.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "log/json_events.h"
#include "model/machine.h"

namespace rota::log {
namespace {

constexpr std::size_t kMostNotes = 1000;
constexpr std::int64_t kMostCounted = 1'000'000'000'000'000;

// Looks for a member of the outermost object.
class NumberSought : public JsonEvents {
 public:
  using JsonEvents::JsonEvents;
  bool found = false;
  bool object = false;

  bool null() { return depth_ > 0; }
  bool boolean(bool /*yes*/) { return depth_ > 0; }
  bool number_integer(number_integer_t /*number*/) { return depth_ > 0; }
  bool number_unsigned(number_unsigned_t /*number*/) { return depth_ > 0; }
  bool number_float(number_float_t /*number*/, const string_t& /*digits*/) { return depth_ > 0; }
  bool string(string_t& /*text*/) { return depth_ > 0; }
  bool start_object(std::size_t /*size*/) { return object = ++depth_ == 1 || object; }
  bool end_object() { return depth_-- > 0; }
  bool start_array(std::size_t /*size*/) { return depth_++ > 0; }
  bool end_array() { return depth_-- > 0; }
  bool key(const string_t& name) {
    found = found || (depth_ == 1 && name == "number");
    return true;
  }

 private:
  std::size_t depth_ = 0;
};

struct HeaderField {
  enum class Kind : std::uint8_t { text, count, notes, names };
  std::string_view name;
  Kind kind;
  std::string LogTop::* text = nullptr;
  std::int64_t LogTop::* count = nullptr;
  NumberedNames LogTop::* names = nullptr;
  std::int64_t most = kMostCounted;
};

constexpr std::array kFields{
    HeaderField{"workload", HeaderField::Kind::text, &LogTop::workload},
    HeaderField{"computer", HeaderField::Kind::text, &LogTop::computer},
    HeaderField{"notes", HeaderField::Kind::notes},
    HeaderField{"unix_start", HeaderField::Kind::count, nullptr, &LogTop::unix_start},
    HeaderField{"processors", HeaderField::Kind::count, nullptr, &LogTop::processors, nullptr, kMostProcessors},
    HeaderField{"nodes", HeaderField::Kind::count, nullptr, &LogTop::nodes, nullptr, kMostProcessors},
    HeaderField{"queue_floor", HeaderField::Kind::count, nullptr, &LogTop::queue_floor},
    HeaderField{"queues", HeaderField::Kind::names, nullptr, nullptr, &LogTop::queues},
    HeaderField{"partitions", HeaderField::Kind::names, nullptr, nullptr, &LogTop::partitions},
    HeaderField{"users", HeaderField::Kind::names, nullptr, nullptr, &LogTop::users},
    HeaderField{"groups", HeaderField::Kind::names, nullptr, nullptr, &LogTop::groups},
};

class HeaderEvents : public JsonEvents {
 public:
  HeaderEvents(std::string_view line, LogTop& top) : JsonEvents(line), top_(top) {}

  bool null() { return wrong("null"); }
  bool boolean(bool yes) { return wrong(yes ? "true" : "false"); }
  bool number_integer(number_integer_t number) { return wrong(std::to_string(number)); }
  bool number_float(number_float_t /*number*/, const string_t& digits) { return wrong("the number " + digits); }
  bool number_unsigned(number_unsigned_t number) {
    if (field_->kind != HeaderField::Kind::count || number > static_cast<number_unsigned_t>(field_->most)) {
      return wrong(std::to_string(number));
    }
    top_.*field_->count = static_cast<std::int64_t>(number);
    return true;
  }
  bool string(string_t& text) {
    if (field_->kind == HeaderField::Kind::text) {
      top_.*field_->text = one_line(text);
    } else if (inside_ && field_->kind == HeaderField::Kind::notes) {
      if (top_.notes.size() == kMostNotes) return refuse("there are more than 1000 notes.");
      top_.notes.push_back(one_line(text));
    } else if (inside_) {
      if (text.empty()) return refuse(fmt::format("the name of {} in {} is empty.", number_, name()));
      if (!(top_.*field_->names).emplace(number_, text).second) {
        return refuse(fmt::format("the number {} is there twice in {}.", number_, name()));
      }
    } else {
      return wrong(rota::quoted(text));
    }
    return true;
  }

  bool start_object(std::size_t /*size*/) {
    if (field_ == nullptr) return true;
    if (inside_ || field_->kind != HeaderField::Kind::names) return wrong("an object");
    return inside_ = true;
  }
  bool end_object() {
    inside_ = false;
    return true;
  }
  bool start_array(std::size_t /*size*/) {
    if (inside_ || field_->kind != HeaderField::Kind::notes) return wrong("a list");
    return inside_ = true;
  }
  bool end_array() {
    inside_ = false;
    return true;
  }
  bool key(const string_t& name) { return inside_ ? number_key(name) : field_key(name); }

 private:
  std::string name() const { return std::string(field_->name); }
  bool wrong(const std::string& here) {
    const std::string count = "a whole number from 0 to " + std::to_string(field_->most);
    const char* const wanted = field_->kind == HeaderField::Kind::text    ? "a text"
                               : field_->kind == HeaderField::Kind::count ? count.c_str()
                               : field_->kind == HeaderField::Kind::notes
                                   ? "a list of texts such as [\"from the archive\"]"
                                   : "an object of names by number such as {\"1\": \"batch\"}";
    return refuse(fmt::format("{} in the header is {}, and here it is {}.", name(), wanted, here));
  }

  bool number_key(const string_t& text) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number_);
    if (error == std::errc{} && end == text.data() + text.size() && number_ != UINT32_MAX) return true;
    return refuse(
        fmt::format("{} in {} of the header is not a number; it has names by number, such as {{\"1\": \"batch\"}}.",
                    rota::quoted(text), name()));
  }

  bool field_key(const string_t& name) {
    const auto* const found = std::ranges::find(kFields, name, &HeaderField::name);
    if (found == kFields.end()) {
      std::vector<std::string_view> names;
      names.reserve(kFields.size());
      for (const HeaderField& field : kFields) names.push_back(field.name);
      const auto near = nearest(name, names);
      return refuse(fmt::format(
          "this line has no number, so it is the header, in which there is no field {}{}", rota::quoted(name),
          near.empty() ? "; if it is a job, give it its number." : fmt::format("; did you mean {}?", near)));
    }
    field_ = found;
    const auto bit = std::uint32_t{1} << static_cast<std::size_t>(found - kFields.begin());
    if ((seen_ & bit) != 0) return refuse(this->name() + " is there twice in the header.");
    seen_ |= bit;
    return true;
  }

  LogTop& top_;
  const HeaderField* field_ = nullptr;  // whose value comes; nullptr: not inside the object yet
  bool inside_ = false;                 // a list or an object that is the value of field_
  std::uint32_t number_ = 0;            // of the name that comes
  std::uint32_t seen_ = 0;              // by place in kFields
};

}  // namespace

bool is_json_header(std::string_view line) {
  NumberSought sought(line);
  return JsonEvents::Json::sax_parse(line, &sought) && sought.object && !sought.found;
}

Result<LogTop> read_json_header(std::string_view line) {
  LogTop top;
  HeaderEvents events(line, top);
  if (!JsonEvents::Json::sax_parse(line, &events)) return fail(events.error());
  return top;
}

}  // namespace rota::log
