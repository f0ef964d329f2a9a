#include "cli/live/submission.h"

#include <fmt/core.h>
#include <glob.h>

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/check.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/live/directives.h"
#include "cli/live/submit_request.h"
#include "cli/printed.h"

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
  if (path == "-" && text->empty())
    return fail("There is nothing to submit: no script is named, and standard input has none.");
  if (!text->starts_with("#!"))
    return fail(shown +
                " is no script: its first line does not begin with #!. Put #!/bin/sh there, or submit a program "
                "as `rota submit -- PROGRAM`.");
  if (text->contains('\0')) return fail(shown + " is no script: it has a byte of zero in it.");
  if (text->find("\r\n") < text->find('\n')) {  // the kernel would look for "/bin/sh\r"
    std::string unix_text;
    for (std::size_t i = 0; i < text->size(); ++i) {
      if ((*text)[i] != '\r' || i + 1 == text->size() || (*text)[i + 1] != '\n') unix_text += (*text)[i];
    }
    *text = std::move(unix_text);
    remark(fmt::format("rota: {} has the line ends of Windows; it was submitted with those of Unix.", shown));
  }
  return text;
}

void set_name(SubmitValues& values, const std::string& name) {
  values.try_emplace("name", SubmitValue{.text = name, .dialect = {}, .where = "--name"});
}

// Whether a word that names no file is a program that a shell would find.
bool is_program_elsewhere(const std::string& name) {
  std::error_code ignored;
  const char* path = std::getenv("PATH");
  if (path == nullptr || name == "-" || name.contains('/') || std::filesystem::exists(name, ignored)) return false;
  return std::ranges::any_of(split(path, ':'), [&](std::string_view folder) {
    const std::string program = fmt::format("{}/{}", folder, name);
    return !folder.empty() && std::filesystem::is_regular_file(program, ignored) &&
           ::access(program.c_str(), X_OK) == 0;
  });
}

// Fills in the script with what it asks for itself; what is in `values` already holds.
Result<void> take_script(const std::string& path, bool anyway, SubmitValues& values, Json& out) {
  auto text = TRY(script_text(path));
  auto directives = TRY(read_directives(text, path == "-" ? "standard input" : shown_path(path)));
  for (const std::string& each : directives.remarks) remark("rota: " + each);
  for (const std::string& each : directives.needed) {
    if (!anyway)
      return fail(each +
                  " The job might run where it must not, so that nothing was submitted; take the line out, or "
                  "submit it with --anyway.");
    remark(fmt::format("rota: {} Submitted anyway.", each));
  }
  overrule(directives.values, std::move(values));
  values = std::move(directives.values);
  out["script"] = std::move(text);
  set_name(values, path == "-" ? "stdin" : last_part(path));
  return {};
}

void take_words(const std::vector<std::string>& words, std::size_t from, Json& out) {
  if (words.size() > from) out["command"] = std::vector(words.begin() + static_cast<std::ptrdiff_t>(from), words.end());
}

// Bytes of the files that paths within the folder name, with commas between them. Fails where one names none.
Result<std::int64_t> bytes_of(const std::string& folder, const std::string& paths) {
  namespace fs = std::filesystem;
  std::int64_t bytes = 0;
  for (const std::string_view path : split(paths, ',')) {
    glob_t found{};
    const std::string pattern = fmt::format("{}/{}", folder, path);
    if (::glob(pattern.c_str(), 0, nullptr, &found) != 0) {
      ::globfree(&found);
      return fail("--stage-in names {}, and there is no such file in {}.", rota::quoted(path), rota::quoted(folder));
    }
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      std::error_code none;
      const fs::path file = found.gl_pathv[i];
      if (fs::is_regular_file(file, none)) bytes += static_cast<std::int64_t>(fs::file_size(file, none));
      for (const auto& entry : fs::recursive_directory_iterator(file, none)) {
        if (entry.is_regular_file(none)) bytes += static_cast<std::int64_t>(entry.file_size(none));
      }
    }
    ::globfree(&found);
  }
  return bytes;
}

}  // namespace

void Submission::declare(Command command) {
  declare_submit_options(command, values);
  command.add_flag(
      "--anyway", anyway,
      "submit it although lines of it for another system ask for nodes or devices in a way that Rota has not");
}

Result<Json> request_of(const Submission& submission) {
  Json out = Json::object();
  SubmitValues values = submission.values;
  const auto& words = submission.words;
  const bool command = !words.empty() && words.front() == "--";
  Result<void> taken;
  if (!submission.wrap.empty()) {
    if (!words.empty()) return fail("--wrap is in place of a script or a command; give one of them.");
    out["script"] = fmt::format("#!/bin/sh\n{}\n", submission.wrap);
    set_name(values, "wrap");
  } else if (command) {
    take_words(words, 1, out);
    set_name(values, last_part(words[1]));
  } else if (is_program_elsewhere(words.front())) {
    std::string line;
    for (const std::string& word : words) line += " " + word;
    return fail("There is no script {} in this folder. Two dashes go before a program: `rota submit --{}`.",
                shown_path(words.front()), one_line(line));
  } else {
    taken = take_script(words.front(), submission.anyway, values, out);
    take_words(words, 1, out);
  }
  if (!taken) return std::unexpected(taken.error());
  const auto here = TRY(surroundings());
  std::vector<std::string> remarks;
  auto rest = job_request(values, here, remarks);
  if (!rest) return rest;
  for (const std::string& each : remarks) remark("rota: " + each);
  out.update(*rest);
  if (const std::string paths = text_of(out, "stage_in"); !paths.empty())
    out["stage_bytes"] = TRY(bytes_of(text_of(out, "folder"), paths));
  return out;
}

std::string fresh_key() {
  std::array<std::uint64_t, 2> bits{};
  CHECK(::getrandom(bits.data(), sizeof bits, 0) == static_cast<ssize_t>(sizeof bits), "Linux has random numbers");
  return hexadecimal(bits[0]) + hexadecimal(bits[1]);
}

namespace {

// "afterok:last" is the latest job of the user that submits, as it is now; an array as a whole.
Result<void> name_last(const Service& service, Json& request) {
  constexpr std::string_view kLast = ":last";
  std::string id;
  for (std::size_t i = 0; i < list_of(request, "after").size(); ++i) {
    auto& after = request["after"][i].get_ref<std::string&>();
    if (!after.ends_with(kLast)) continue;
    if (id.empty()) {
      const auto last = TRY(service.get("/v1/jobs/last"));
      id = text_of(last, "array").empty() ? text_of(last, "id") : text_of(last, "array");
    }
    after.replace(after.size() - kLast.size() + 1, std::string::npos, id);
  }
  return {};
}

}  // namespace

Result<Json> submit(const Service& service, const Json& wanted) {
  Json request = wanted;
  TRY(name_last(service, request));
  auto answer = service.post("/v1/jobs", request, fresh_key());
  if (answer && !flag_of(request, "dry_run") && (text_of(*answer, "id").empty() || list_of(*answer, "jobs").empty()))
    return fail("The service's answer names no job; `rota doctor` says whether it is of this version.");
  for (const Json& each : answer ? list_of(*answer, "remarks") : Json::array()) {
    if (each.is_string()) remark("rota: " + each.get<std::string>());
  }
  return answer;
}

}  // namespace rota::cli
