#include "cli/live/file_name.h"

#include <filesystem>

#include "base/text.h"

namespace rota::cli {
namespace {

// A backslash keeps every sign as it stands.
std::string slurm_pattern(const std::string& text) {
  if (!text.contains('\\')) return text;
  std::string plain;
  for (const char c : text) {
    if (c != '\\') plain += c == '%' ? std::string("%%") : std::string(1, c);
  }
  return plain;
}

// "$HOME" or "~" of a name that no shell has read; empty: it has none.
std::string left_to_a_shell(const std::string& text) {
  if (text.starts_with("~/")) return "~";
  const std::size_t dollar = text.find('$');
  return dollar == std::string::npos ? "" : text.substr(dollar, text.find('/', dollar) - dollar);
}

}  // namespace

Result<std::string> file_name(const SubmitValue& value, const std::string& folder, bool of_array) {
  std::string text = value.dialect == Dialect::slurm ? slurm_pattern(value.text) : value.text;
  if (const std::string left = left_to_a_shell(text); !left.empty())
    return fail(
        "{}: no shell reads {}, so that {} would stay as it stands; write the path out, and %j for the job's id.",
        value.where, rota::quoted(text), escaped(left));
  std::error_code ignored;
  const std::filesystem::path base(folder);
  if (text.ends_with('/') || std::filesystem::is_directory(base / text, ignored)) {
    const std::string usual =
        std::string(text.ends_with('/') ? "" : "/") + (of_array ? "rota-%A_%a.out" : "rota-%j.out");
    if (value.dialect == Dialect::rota || value.dialect == Dialect::slurm)
      return fail("{}: {} is a folder; name a file in it, such as {}.", value.where, rota::quoted(text),
                  rota::quoted(text + usual));
    text += usual;
  }
  const std::filesystem::path parent = (base / text).parent_path();
  const bool can_look = std::filesystem::is_directory(base, ignored) && !parent.string().contains('%');
  if (can_look && !std::filesystem::is_directory(parent, ignored))
    return fail("{}: the folder {} is not there, and a job's files are opened before it starts; make it first.",
                value.where, rota::quoted(parent.string()));
  return text;
}

}  // namespace rota::cli
