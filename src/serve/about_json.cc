// What is kept of a job beside its facts, as the store keeps it.
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "serve/submission.h"

namespace rota::serve {

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
  if (index >= 0) json["index"] = index;
  if (about.warning_signal > 0) {
    json["warning_signal"] = about.warning_signal;
    json["warning_time"] = about.warning_time.count();
  }
  if (!about.checkpoint.empty()) json["checkpoint"] = about.checkpoint;
  if (about.checkpoint_signal > 0) json["checkpoint_signal"] = about.checkpoint_signal;
  if (about.checkpoint_time > Duration{0}) json["checkpoint_time"] = about.checkpoint_time.count();
  if (about.scripted) json["scripted"] = true;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

namespace {

template <class Value>
void take(const nlohmann::json& json, const char* name, Value& into) {
  if (const auto found = json.find(name); found != json.end()) into = found->get<Value>();
}

void take(const nlohmann::json& json, const char* name, Duration& into) {
  std::int64_t count = into.count();
  take(json, name, count);
  into = Duration{count};
}

}  // namespace

Result<KeptAbout> read_about(const std::string& text) {
  KeptAbout kept;
  About& about = kept.about;
  try {
    const auto json = nlohmann::json::parse(text);
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
    take(json, "kill_wait", about.kill_wait);
    take(json, "checkpoint", about.checkpoint);
    take(json, "checkpoint_signal", about.checkpoint_signal);
    take(json, "checkpoint_time", about.checkpoint_time);
    take(json, "scripted", about.scripted);
  } catch (const nlohmann::json::exception& e) {
    return fail("what the database knows of a job cannot be read: " + escaped(e.what()) + ".");
  }
  return kept;
}

}  // namespace rota::serve
