#include <algorithm>
#include <nlohmann/json.hpp>

#include "log/json_lines.h"
#include "log/swf_writer.h"

namespace rota::log {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16U;

std::string as_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class Object {
 public:
  explicit Object(std::string& out) : out_(out) { out_ += '{'; }
  std::string& member(std::string_view name) {
    if (!std::exchange(first_, false)) out_ += ',';
    out_ += '"';
    out_ += name;
    out_ += "\":";
    return out_;
  }
  bool empty() const { return first_; }

 private:
  std::string& out_;
  bool first_ = true;
};

void write_names(Object& object, std::string_view name, const NumberedNames& names) {
  if (names.empty()) return;
  std::string& out = object.member(name);
  Object inner(out);
  for (const auto& [number, text] : names) inner.member(std::to_string(number)) += as_json(text);
  out += '}';
}

// Those names that stand for one number.
std::map<std::uint32_t, std::string> unique_names(const NumberedNames& names) {
  std::map<std::string_view, int> times;
  for (const auto& [number, text] : names) ++times[text];
  std::map<std::uint32_t, std::string> unique;
  for (const auto& [number, text] : names) unique[number] = times[text] == 1 ? as_json(text) : std::string();
  return unique;
}

}  // namespace

void JsonLinesWriter::flush() {
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

void JsonLinesWriter::top(const LogTop& top) {
  top_ = &top;
  users_ = unique_names(top.users);
  groups_ = unique_names(top.groups);
  queues_ = unique_names(top.queues);
  partitions_ = unique_names(top.partitions);
  std::string line;
  Object object(line);
  if (!top.workload.empty()) object.member("workload") += as_json(top.workload);
  if (!top.computer.empty()) object.member("computer") += as_json(top.computer);
  if (!top.notes.empty()) {
    std::string& out = object.member("notes");
    for (std::size_t i = 0; i < top.notes.size(); ++i) out += (i == 0 ? '[' : ',') + as_json(top.notes[i]);
    out += ']';
  }
  if (top.unix_start > 0) object.member("unix_start") += std::to_string(top.unix_start);
  if (top.processors > 0) object.member("processors") += std::to_string(top.processors);
  if (top.nodes > 0) object.member("nodes") += std::to_string(top.nodes);
  if (top.queue_floor >= 0) object.member("queue_floor") += std::to_string(top.queue_floor);
  write_names(object, "queues", top.queues);
  write_names(object, "partitions", top.partitions);
  write_names(object, "users", top.users);
  write_names(object, "groups", top.groups);
  if (!object.empty()) buffer_ += line + "}\n";
}

void JsonLinesWriter::nodes(std::string_view list, std::string& out) {
  if (list.find_first_of("\"\\") != std::string_view::npos) {
    out += as_json(std::string(list));
    return;
  }
  out += '"';
  out += list;
  out += '"';
}

// The number's name, where it has one of its own.
void JsonLinesWriter::named(SwfField field, std::uint32_t number) {
  auto& written = field == SwfField::user    ? users_
                  : field == SwfField::group ? groups_
                  : field == SwfField::queue ? queues_
                                             : partitions_;
  auto found = written.find(number);
  if (found == written.end() && top_ != nullptr) {
    const NumberedNames& names = field == SwfField::user    ? top_->users
                                 : field == SwfField::group ? top_->groups
                                 : field == SwfField::queue ? top_->queues
                                                            : top_->partitions;
    if (const auto fresh = names.find(number); fresh != names.end()) {
      found = written.emplace(number, as_json(fresh->second)).first;
    }
  }
  buffer_ += found == written.end() || found->second.empty() ? std::to_string(number) : found->second;
}

void JsonLinesWriter::job(const SwfRow& row, const JobAttributes& attributes) {
  Object object(buffer_);
  for (const JsonField& field : json_fields()) {
    if (field.kind == JsonField::Kind::column) {
      text_.clear();
      field.column->write(attributes, text_);
      if (text_.empty()) continue;
      object.member(field.name) += field.column->form == AttributeForm::word ? as_json(text_) : text_;
      continue;
    }
    if (field.kind == JsonField::Kind::aside) {
      if (row.*field.aside > Duration{0}) append_seconds(row.*field.aside, object.member(field.name));
      continue;
    }
    if (field.kind == JsonField::Kind::node_list) {
      if (row.ran_on > 0 && top_ != nullptr && top_->node_lists)
        nodes(top_->node_lists->text(row.ran_on), object.member(field.name));
      continue;
    }
    if (field.kind == JsonField::Kind::array || field.kind == JsonField::Kind::throttle) {
      const std::int64_t number = field.kind == JsonField::Kind::array ? row.array : row.throttle;
      if (number > 0) object.member(field.name) += std::to_string(number);
      continue;
    }
    const bool unknown = row[field.swf] == -1 && (row.fractions >> static_cast<std::size_t>(field.swf) & 1U) == 0;
    if (field.swf == SwfField::requested_processors) {  // left out, they are the processors
      if (row[field.swf] == row[SwfField::processors]) continue;
      if (unknown) object.member(field.name) += "null";
    }
    if (unknown) continue;
    object.member(field.name);
    if (field.kind == JsonField::Kind::named) {
      named(field.swf, static_cast<std::uint32_t>(row[field.swf]));
    } else {
      append_value(row, field.swf, buffer_);
    }
  }
  buffer_ += "}\n";
  if (buffer_.size() > kPiece) flush();
}

}  // namespace rota::log
