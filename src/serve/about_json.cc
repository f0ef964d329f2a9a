// What is kept of a job beside its facts, as the store keeps it.
#include <algorithm>
#include <concepts>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/json_bytes.h"
#include "base/text.h"
#include "serve/submission.h"
#include "store/number_json.h"

namespace rota::serve {
namespace {

constexpr std::string_view kIndex = ",\"index\":";  // cannot stand in a text in JSON, where quotes are escaped

}  // namespace

std::string about_text(const About& about, std::int64_t index) {
  nlohmann::json json{
      {"name", about.name}, {"user", about.user}, {"folder", about.folder}, {"output", about.output},
      {"uid", about.uid},   {"gid", about.gid},   {"umask", about.umask},   {"kill_wait", about.kill_wait.count()}};
  if (!about.comment.empty()) json["comment"] = about.comment;
  if (!about.error.empty()) json["error"] = about.error;
  if (!about.input.empty()) json["input"] = about.input;
  if (!about.command.empty()) json["command"] = about.command;
  if (!about.after.empty()) json["after"] = about.after;
  if (about.append) json["append"] = *about.append;
  if (about.array > 0) json["array"] = about.array;
  if (about.warning_signal > 0) {
    json["warning_signal"] = about.warning_signal;
    json["warning_time"] = about.warning_time.count();
    if (about.warning_to_script) json["warning_to_script"] = true;
  }
  if (!about.checkpoint.empty()) json["checkpoint"] = about.checkpoint;
  if (about.checkpoint_signal > 0) json["checkpoint_signal"] = about.checkpoint_signal;
  if (about.checkpoint_time > Duration{0}) json["checkpoint_time"] = about.checkpoint_time.count();
  if (about.scripted) json["scripted"] = true;
  if (about.never) json["never"] = true;
  if (about.mail > 0) json["mail"] = about.mail;
  if (!about.mail_user.empty()) json["mail_user"] = about.mail_user;
  if (about.tasks > 0) json["tasks"] = about.tasks;
  if (about.tasks_per_node > 0) json["tasks_per_node"] = about.tasks_per_node;
  if (about.exclusive) json["exclusive"] = true;
  if (about.processors > 0) json["processors"] = about.processors;
  if (about.nodes) json["nodes"] = *about.nodes;
  if (!about.submit_folder.empty()) json["submit_folder"] = about.submit_folder;
  if (const About::Indexes& all = about.indexes; all.count > 0)
    json["indexes"] = {all.count, all.least, all.most, all.step};
  if (const Attach& attach = about.attach; !attach.socket.empty()) {
    json["attach"] = {{"socket", attach.socket},           {"user", attach.user}, {"terminal", attach.terminal},
                      {"error_apart", attach.error_apart}, {"keep", attach.keep}, {"rows", attach.rows},
                      {"columns", attach.columns}};
  }
  return with_index(json_text(json), index);
}

// The last member, so that all before it is the same text for all tasks.
std::string with_index(std::string_view about, std::int64_t index) {
  std::string text(about);
  if (index < 0) return text;
  text.pop_back();
  text += kIndex;
  text += std::to_string(index);
  text += '}';
  return text;
}

namespace {

void read(const nlohmann::json& json, auto& into) { json.get_to(into); }

template <std::integral Number>
  requires(!std::same_as<Number, bool>)
void read(const nlohmann::json& json, Number& into) {
  if (!store::whole(json, into)) throw std::out_of_range(json.dump() + " is no whole number that can stand there");
}

template <class Value>
void take(const nlohmann::json& json, const char* name, Value& into) {
  if (const auto found = json.find(name); found != json.end()) read(*found, into);
}

void take(const nlohmann::json& json, const char* name, Duration& into) {
  std::int64_t count = into.count();
  take(json, name, count);
  into = Duration{count};
}

void take(const nlohmann::json& json, const char* name, Attach& into) {
  const auto found = json.find(name);
  if (found == json.end()) return;
  take(*found, "socket", into.socket);
  take(*found, "user", into.user);
  take(*found, "terminal", into.terminal);
  take(*found, "error_apart", into.error_apart);
  take(*found, "keep", into.keep);
  take(*found, "rows", into.rows);
  take(*found, "columns", into.columns);
}

}  // namespace

Result<KeptAbout> read_about(const std::string& text) {
  KeptAbout kept;
  About& about = kept.about;
  try {
    const auto json = json_from<nlohmann::json>(text);
    if (json.is_discarded()) return fail("what the database knows of a job is no JSON: {}.", rota::quoted(text));
    take(json, "name", about.name);
    take(json, "user", about.user);
    take(json, "comment", about.comment);
    take(json, "folder", about.folder);
    take(json, "output", about.output);
    take(json, "error", about.error);
    take(json, "input", about.input);
    take(json, "command", about.command);
    take(json, "after", about.after);
    if (const auto append = json.find("append"); append != json.end()) about.append = append->get<bool>();
    take(json, "umask", about.umask);
    take(json, "uid", about.uid);
    take(json, "gid", about.gid);
    take(json, "array", about.array);
    take(json, "index", kept.index);
    take(json, "warning_signal", about.warning_signal);
    take(json, "warning_time", about.warning_time);
    take(json, "warning_to_script", about.warning_to_script);
    take(json, "kill_wait", about.kill_wait);
    take(json, "checkpoint", about.checkpoint);
    take(json, "checkpoint_signal", about.checkpoint_signal);
    take(json, "checkpoint_time", about.checkpoint_time);
    take(json, "scripted", about.scripted);
    take(json, "never", about.never);
    take(json, "mail", about.mail);
    take(json, "mail_user", about.mail_user);
    take(json, "tasks", about.tasks);
    take(json, "tasks_per_node", about.tasks_per_node);
    take(json, "exclusive", about.exclusive);
    take(json, "processors", about.processors);
    if (const auto nodes = json.find("nodes"); nodes != json.end()) read(*nodes, about.nodes.emplace());
    take(json, "submit_folder", about.submit_folder);
    if (const auto all = json.find("indexes"); all != json.end()) {
      std::size_t at = 0;
      for (std::int64_t* one : {&about.indexes.count, &about.indexes.least, &about.indexes.most, &about.indexes.step})
        read(all->at(at++), *one);
    }
    take(json, "attach", about.attach);
  } catch (const std::exception& e) {
    return fail("what the database knows of a job cannot be read: {}.", escaped(e.what()));
  }
  return kept;
}

Result<AboutReader::Task> AboutReader::read(std::string_view text) {
  const std::size_t at = std::min(text.rfind(kIndex), text.size());
  const std::string_view digits = text.substr(std::min(text.size(), at + kIndex.size()));
  const auto index = parse_integer(digits.substr(0, digits.size() - (digits.ends_with('}') ? 1 : 0)));
  const std::string_view shared = index ? text.substr(0, at) : text;
  if (about_ && shared == before_) return Task{about_, index.value_or(-1)};
  auto kept = TRY(read_about(std::string(text)));
  before_ = shared;
  about_ = std::make_shared<const About>(std::move(kept.about));
  return Task{about_, kept.index};
}

}  // namespace rota::serve
