#include "cli/submission.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "cli/directives.h"
#include "cli/printed.h"
#include "cli/submit_request.h"

namespace rota::cli {
namespace {

constexpr std::size_t kLargest = 4U << 20U;  // bytes of a script

std::string last_part(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.empty() ? path : name;
}

Result<std::string> script_text(const std::string& path) {
  auto text = read_file(path, kLargest);
  if (!text) return text;
  const std::string shown = path == "-" ? "What came on standard input" : shown_path(path);
  if (!text->starts_with("#!"))
    return fail(shown +
                " is no script: its first line does not begin with #!. Put #!/bin/sh there, or submit a program "
                "as `rota submit -- PROGRAM`.");
  if (!is_utf8(*text)) return fail(shown + " is no UTF-8 text; write it anew as UTF-8.");
  return text;
}

void set_name(SubmitValues& values, const std::string& name) {
  values.try_emplace("name", SubmitValue{.text = is_utf8(name) ? name : "job", .dialect = {}, .where = "--name"});
}

// Fills in the script with what it asks for itself; what is in `values` already holds.
Result<void> take_script(const std::string& path, SubmitValues& values, Json& out) {
  auto text = script_text(path);
  if (!text) return std::unexpected(text.error());
  auto directives = read_directives(*text, path == "-" ? "standard input" : shown_path(path));
  if (!directives) return std::unexpected(directives.error());
  for (const std::string& each : directives->remarks) remark("rota: " + each);
  values.merge(directives->values);
  out["script"] = std::move(*text);
  set_name(values, path == "-" ? "stdin" : last_part(path));
  return {};
}

// The nodes that a job of this partition, or of the default one where it names none, could use.
Result<Json> nodes_for(const Service& service, std::string partition) {
  auto nodes = service.get("/v1/nodes");
  if (!nodes) return nodes;
  const auto partitions = service.get("/v1/partitions");
  if (!partitions) return partitions;
  for (const Json& row : list_of(*partitions, "partitions")) {
    if (partition.empty() && flag_of(row, "default")) partition = text_of(row, "name");
  }
  Json chosen = Json::array();
  for (const Json& node : list_of(*nodes, "nodes")) {
    const Json& in = list_of(node, "partitions");
    if (partition.empty() || std::ranges::find(in, Json(partition)) != in.end()) chosen.push_back(node);
  }
  return chosen;
}

// Whole nodes are all their processors. So many nodes as were asked for, or as what was asked for needs.
Result<void> ask_for_whole_nodes(const Service& service, Json& request) {
  request.erase(kExclusive);
  const auto nodes = nodes_for(service, text_of(request, "partition"));
  if (!nodes) return std::unexpected(nodes.error());
  if (nodes->empty()) return {};  // the service says what is wrong with that partition
  const auto processors_of = [](const Json& node) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(number_of(node, "processors")));
  };
  const std::int64_t whole = processors_of(nodes->front());
  for (const Json& node : *nodes) {
    if (processors_of(node) != whole)
      return fail(
          "--exclusive is for nodes that are alike, and the ones that this job could use have different numbers "
          "of processors; ask for them with -N and -n.");
  }
  const auto asked = static_cast<std::int64_t>(number_of(request, "processors", 1));
  const auto count = static_cast<std::int64_t>(number_of(request, "nodes", 0));
  const std::int64_t needed = count > 0 ? count : (asked + whole - 1) / whole;
  if (asked > needed * whole)
    return fail("--exclusive with -N " + std::to_string(needed) + " gives " + grouped(needed * whole) +
                " processors, and -n and -c ask for " + grouped(asked) + "; ask for more nodes.");
  request["processors"] = needed * whole;
  if (nodes->size() > 1) request["nodes"] = needed;
  return {};
}

Result<void> take_words(const std::vector<std::string>& words, std::size_t from, Json& out) {
  Json command = Json::array();
  for (std::size_t i = from; i < words.size(); ++i) {
    if (!is_utf8(words[i])) return fail("The argument " + rota::quoted(words[i]) + " is no UTF-8; write it as UTF-8.");
    command.push_back(words[i]);
  }
  if (!command.empty()) out["command"] = std::move(command);
  return {};
}

}  // namespace

void Submission::declare(CLI::App& command) { declare_submit_options(command, values); }

Result<Json> request_of(const Submission& submission) {
  Json out = Json::object();
  SubmitValues values = submission.values;
  const auto& words = submission.words;
  const bool command = !words.empty() && words.front() == "--";
  Result<void> taken;
  if (!submission.wrap.empty()) {
    if (!words.empty()) return fail("--wrap is in place of a script or a command; give one of them.");
    if (!is_utf8(submission.wrap)) return fail("--wrap takes UTF-8 text.");
    out["script"] = "#!/bin/sh\n" + submission.wrap + "\n";
    set_name(values, "wrap");
  } else if (command) {
    taken = take_words(words, 1, out);
    set_name(values, last_part(words[1]));
  } else {
    taken = take_script(words.front(), values, out);
    if (taken) taken = take_words(words, 1, out);
  }
  if (!taken) return std::unexpected(taken.error());
  const auto here = surroundings();
  if (!here) return std::unexpected(here.error());
  std::vector<std::string> remarks;
  auto rest = job_request(values, *here, remarks);
  if (!rest) return rest;
  for (const std::string& each : remarks) remark("rota: " + each);
  out.update(*rest);
  return out;
}

std::string fresh_key() {
  std::array<std::uint64_t, 2> bits{};
  if (::getrandom(bits.data(), sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) return "";
  return hexadecimal(bits[0]) + hexadecimal(bits[1]);
}

Result<Json> submit(const Service& service, const Json& request) {
  Json asked = request;
  if (flag_of(request, kExclusive)) {
    if (auto whole = ask_for_whole_nodes(service, asked); !whole) return std::unexpected(whole.error());
  }
  auto answer = service.post("/v1/jobs", asked, fresh_key());
  if (answer && !flag_of(request, "dry_run") && (text_of(*answer, "id").empty() || list_of(*answer, "jobs").empty()))
    return fail("The service's answer names no job; `rota doctor` says whether it is of this version.");
  return answer;
}

}  // namespace rota::cli
