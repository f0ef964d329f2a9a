#include "log/json_job.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

#include "base/check.h"
#include "log/json_events.h"

namespace rota::log {
namespace {

// "16.0" is a whole number where a program wrote tables with gaps in them.
std::string_view without_zeros(std::string_view digits) {
  const std::size_t point = digits.find('.');
  if (point == std::string_view::npos || digits.find_first_not_of('0', point + 1) != std::string_view::npos) {
    return digits;
  }
  return digits.substr(0, point);
}

}  // namespace

// Takes what the parser finds in one line.
class JsonJobEvents : public JsonEvents {
 public:
  JsonJobEvents(JsonJobParser& parser, std::string_view line, SwfRow& row, JobAttributes& attributes)
      : JsonEvents(line), parser_(parser), row_(row), attributes_(attributes) {}

  bool start_object(std::size_t /*size*/) {
    if (field_ != nullptr) return refuse(name() + " is an object, and a job's fields have none.");
    return true;
  }
  bool end_object() { return true; }
  bool start_array(std::size_t /*size*/) {
    if (field_ != nullptr) return refuse(name() + " is a list, and a job's fields have none.");
    return refuse("this is a list of JSON. Write one object a line, as jq -c '.[]' does.");
  }
  bool end_array() { return true; }  // none begins

  bool key(const string_t& name) {
    const auto fields = json_fields();
    const std::size_t index = parser_.field_index(name);
    if (index == fields.size()) {
      const std::string_view near = name == "account" ? "group"
                                    : name == "qos"   ? "queue"
                                                      : rota::nearest(name, json_field_names());
      return refuse(
          fmt::format("there is no field {}{}", rota::quoted(name),
                      near.empty() ? "; docs/workloads.md lists them." : fmt::format("; did you mean {}?", near)));
    }
    field_ = &fields[index];
    if ((seen_ >> index & 1U) != 0) return refuse(this->name() + " is there twice.");
    seen_ |= std::uint64_t{1} << index;
    return true;
  }

  bool null() { return !outside(); }  // unknown, as if left out
  bool boolean(bool yes) {
    return !outside() &&
           refuse(fmt::format("{} is {}, which no field of a job can be.", name(), yes ? "true" : "false"));
  }
  bool number_integer(number_integer_t number) { return digits_of(number); }
  bool number_unsigned(number_unsigned_t number) { return digits_of(number); }
  bool number_float(number_float_t /*number*/, const string_t& digits) { return number(digits); }
  bool string(string_t& text) {
    if (outside()) return false;
    if (text.empty()) return refuse(name() + " is empty; leave it out where it is not known.");
    switch (field_->kind) {
      case JsonField::Kind::number:
      case JsonField::Kind::array:
      case JsonField::Kind::throttle:
        return refuse(fmt::format("{} is a number, and here it is the text {}.", name(), rota::quoted(text)));
      case JsonField::Kind::time:
      case JsonField::Kind::aside:
        return time(text);
      case JsonField::Kind::named:
        return named(text);
      case JsonField::Kind::node_list:
        return nodes(text);
      case JsonField::Kind::column:
        if (field_->column->form != AttributeForm::whole) return attribute(text);
        return refuse(fmt::format("{} is a number, and here it is the text {}.", name(), rota::quoted(text)));
    }
    return false;
  }

  bool has(SwfField field) const { return (seen_ >> static_cast<std::size_t>(field_place(field)) & 1U) != 0; }

 private:
  static std::size_t field_place(SwfField wanted) {
    const auto fields = json_fields();
    std::size_t at = 0;
    while (fields[at].swf != wanted) ++at;
    return at;
  }

  std::string name() const { return std::string(field_->name); }
  bool outside() {
    if (field_ != nullptr) return false;
    refuse(R"(a line is an object such as {"number": 1, "submit": 0, "run_time": 60, "processors": 4}, not )" +
           rota::quoted(line_) + ".");
    return true;
  }

  template <class Number>
  bool digits_of(Number value) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return number({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }

  bool number(std::string_view digits) {
    if (outside()) return false;
    if (field_->kind == JsonField::Kind::column) {
      if (field_->column->form != AttributeForm::word) return attribute(without_zeros(digits));
      return text_wanted(digits);
    }
    if (field_->kind == JsonField::Kind::node_list) return text_wanted(digits);
    if (field_->kind == JsonField::Kind::aside) return aside(digits);
    if (field_->kind == JsonField::Kind::array || field_->kind == JsonField::Kind::throttle) return of_array(digits);
    if (auto stored = read_swf_value(field_->swf, digits, row_); !stored) {
      return refuse(fmt::format("{} {}.", name(), stored.error().message));
    }
    if (field_->kind != JsonField::Kind::named) return true;
    const auto known = parser_.named(field_->swf).names.check(row_[field_->swf]);
    return known || refuse(fmt::format("{} {}.", name(), known.error().message));
  }

  bool text_wanted(std::string_view digits) {
    return refuse(fmt::format("{} is a text in quotes, and here it is the number {}.", name(), rota::quoted(digits)));
  }

  bool of_array(std::string_view digits) {
    constexpr std::int64_t kMostNumber = 1'000'000'000'000'000;
    const bool number = field_->kind == JsonField::Kind::array;
    const std::int64_t most = number ? kMostNumber : INT32_MAX;
    const auto value = parse_integer(without_zeros(digits));
    if (!value || *value < -1 || *value > most) {
      return refuse(
          fmt::format("{} is {}, which is not a whole number from 1 to {}.", name(), rota::quoted(digits), most));
    }
    if (number) row_.array = std::max<std::int64_t>(*value, 0);
    if (!number) row_.throttle = static_cast<std::uint32_t>(std::max<std::int64_t>(*value, 0));
    return true;
  }

  // By the rules of a run time, of which -1 is not known either.
  bool aside(std::string_view digits) {
    SwfRow as_run = SwfRow::blank();
    if (auto stored = read_swf_value(SwfField::run, digits, as_run); !stored) {
      return refuse(fmt::format("{} {}.", name(), stored.error().message));
    }
    row_.*field_->aside = std::max(Duration{as_run.milli(SwfField::run)}, Duration{0});
    return true;
  }

  bool time(std::string_view text) {
    const auto duration = parse_duration(text);
    if (!duration) return refuse(fmt::format("{}: {}", name(), duration.error().message));
    if (field_->kind == JsonField::Kind::aside) {
      row_.*field_->aside = std::max(*duration, Duration{0});
      return true;
    }
    const auto i = static_cast<std::size_t>(field_->swf);
    row_.value[i] = duration->count() / 1000;
    row_.thousandths[i] = static_cast<std::int16_t>(duration->count() % 1000);
    if (row_.thousandths[i] != 0) row_.fractions |= 1U << i;
    return true;
  }

  bool named(std::string_view text) {
    JsonJobParser::Named& value = parser_.named(field_->swf);
    const auto known = value.names.check(text);
    if (!known) return refuse(fmt::format("{} {}.", name(), known.error().message));
    value.name = text;
    return true;
  }

  bool nodes(std::string_view text) {
    auto& lists = parser_.top_.node_lists;
    if (!lists) lists = std::make_shared<NodeLists>();
    row_.ran_on = lists->number_of(text);
    return row_.ran_on > 0 ||
           refuse(fmt::format("{} is {}, which is not a host list such as n[1-3,7].", name(), rota::quoted(text)));
  }

  bool attribute(std::string_view text) {
    const auto read = field_->column->read(text, attributes_);
    return read || refuse(read.error().message);
  }

  JsonJobParser& parser_;
  SwfRow& row_;
  JobAttributes& attributes_;
  const JsonField* field_ = nullptr;  // whose value comes; nullptr: not inside the object yet
  std::uint64_t seen_ = 0;            // by place in json_fields()
};

JsonJobParser::JsonJobParser(LogTop& top)
    : top_(top),
      named_{Named(SwfField::user, top.users), Named(SwfField::group, top.groups), Named(SwfField::queue, top.queues),
             Named(SwfField::partition, top.partitions)} {
  CHECK(json_fields().size() <= 64, "a bit for each field");
}

void JsonJobParser::learn() {
  for (Named& value : named_) value.names.learn();
}

std::size_t JsonJobParser::field_index(std::string_view name) {
  const auto fields = json_fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t index = (next_ + i) % fields.size();
    if (fields[index].name != name) continue;
    next_ = index + 1;
    return index;
  }
  return fields.size();
}

JsonJobParser::Named& JsonJobParser::named(SwfField field) {
  for (Named& value : named_) {
    if (value.field == field) return value;
  }
  return named_.back();  // every field of that kind is among them
}

void JsonJobParser::take_names(SwfRow& row) {
  for (Named& value : named_) {
    std::int64_t& number = row.value[static_cast<std::size_t>(value.field)];
    if (value.name.empty()) {
      value.names.number_of_name(number);
    } else {
      number = value.names.number_of_name(std::string_view(value.name));
    }
  }
}

Result<void> JsonJobParser::parse(std::string_view line, SwfRow& row, JobAttributes& attributes) {
  row.value.fill(-1);
  row.fractions = 0;
  row.columns = kSwfFields;
  row.suspended = row.earlier = Duration{0};
  row.array = row.throttle = row.ran_on = 0;
  attributes = {};
  next_ = 0;
  for (Named& value : named_) value.name.clear();
  JsonJobEvents events(*this, line, row, attributes);
  if (!JsonEvents::Json::sax_parse(line, &events)) return fail(events.error());
  if (row[SwfField::number] < 0) return fail("the job has no number, which is the name that it goes by.");
  if (auto good = check(attributes); !good) return good;
  if (!events.has(SwfField::requested_processors)) {
    row.set(SwfField::requested_processors, row[SwfField::processors]);
  }
  take_names(row);
  row.nodes = attributes.nodes;
  row.node_memory = attributes.memory;
  return {};
}

}  // namespace rota::log
