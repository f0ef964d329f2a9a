#include "cli/man_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "base/letters.h"
#include "base/text.h"
#include "cli/describe.h"
#include "cli/help.h"
#include "policy/chain.h"

namespace rota::cli {
namespace {

// Text for roff: nothing in it is taken for a request, and what may be copied to a shell keeps its plain hyphens.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '~') {
      out += "\\(ti";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string section(const char* title, const std::string& body) {
  if (body.empty()) return "";
  constexpr std::string_view kParagraph = ".PP\n";  // which a section begins of itself
  return fmt::format(".SH {}\n{}", title, body.substr(body.starts_with(kParagraph) ? kParagraph.size() : 0));
}

std::string paragraph(const std::string& text) { return fmt::format(".PP\n{}\n", escaped(text)); }

std::string item(const std::string& head, const std::string& text) {
  return fmt::format(".TP\n{}\n{}\n", head, escaped(text));
}

std::string bold(const std::string& text) { return fmt::format("\\fB{}\\fR", escaped(text)); }

std::string argument_items(const std::vector<Argument>& arguments) {
  std::string out;
  for (const Argument& argument : arguments) {
    std::string head;
    for (const std::string& name : argument.names) head += (head.empty() ? "" : ", ") + bold(name);
    if (argument.rest) head.clear();
    if (!argument.value.empty())
      head += fmt::format("{}{}\\fR", head.empty() ? "\\fI" : " \\fI", escaped(argument.value));
    if (argument.positional && argument.many && !argument.rest) head += "...";
    out += item(head, argument.meaning);
  }
  return out;
}

std::string description(const Description& command) {
  std::string out;
  if (!command.text.empty()) out += paragraph(command.text);
  for (const std::string& note : command.notes) out += paragraph(note);
  return out.empty() ? paragraph(command.summary + ".") : out;
}

std::string commands(const Description& command) {
  std::string out;
  for (const Command sub : command.subcommands) {
    out += item(bold(man_page_name(sub)) + "(1)", describe(sub).summary);
  }
  return out;
}

std::string policies() {
  std::string out;
  for (const PolicyName& p : policy_names()) {
    std::string text =
        fmt::format("{}; stands for {}. Source: {}.", p.meaning, readable_settings(p.stands_for), p.source);
    out += item(bold(std::string(p.name)), text);
  }
  return out;
}

std::string knobs() {
  std::string out;
  for (const Knob* k : every_knob()) {
    const std::string unit = unit_text(*k).empty() ? "" : fmt::format(" ({})", unit_text(*k));
    out += item(fmt::format("{} = {}{}", bold(std::string(k->name)), escaped(values_text(*k)), escaped(unit)),
                fmt::format("{}; default {}. Source: {}.", k->meaning, default_text(*k), k->source));
  }
  return out;
}

std::string examples(const Description& command) {
  if (command.examples.empty()) return "";
  std::string out = ".nf\n";
  for (const std::string_view line : split(trimmed(command.examples), '\n')) out += escaped(line) + "\n";
  return out + ".fi\n";
}

std::string exit_status() {
  return item("0", "done; for verify: every start is identical") +
         item("1", "failed, or the answer is no; standard error says why in one sentence that begins with \"rota: \"") +
         item("2", "the command line itself is wrong");
}

std::string files() {
  return paragraph(
      "Rota reads no configuration file, and of the environment only what says where a service is and who "
      "asks: ROTA_SOCKET, XDG_RUNTIME_DIR, ROTA_URL, ROTA_TOKEN, ROTA_TOKEN_FILE, ROTA_CA_FILE; and with ROTA_START=no "
      "no command starts a service by itself. A file that it writes "
      "grows beside its place under a name that ends in .tmp and takes its "
      "own name when it is whole; on any failure it is removed, and what was there before stays. Inputs may be "
      "gzipped, whatever they are called; - is standard input or output.");
}

std::string see_also(Command command) {
  const Command root = root_of(command);
  const Command parent = parent_of(command);
  std::string out;
  const auto add = [&](Command other) {
    if (other != command) out += fmt::format("{}{}(1)", out.empty() ? "" : ", ", bold(man_page_name(other)));
  };
  add(root);
  if (parent != root) add(parent);
  for (const Command beside : describe(parent).subcommands) add(beside);
  return out + "\n";
}

}  // namespace

std::string man_page_name(Command command) {
  std::string name = full_name(command);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string man_page(Command of) {
  const Description command = describe(of);
  std::string out =
      fmt::format(".TH {}{}", escaped(upper(man_page_name(of))), " 1 \"\" \"Rota " ROTA_VERSION "\" \"Rota manual\"\n");
  out += section("NAME", fmt::format("{} \\- {}\n", escaped(man_page_name(of)), escaped(command.summary)));
  out += section("SYNOPSIS", fmt::format("\\fB{}\\fR{}\n", escaped(command.name),
                                         escaped(synopsis(command).substr(command.name.size()))));
  out += section("DESCRIPTION", description(command));
  out += section("COMMANDS", commands(command));
  out += section("ARGUMENTS", argument_items(command.positionals));
  out += section("OPTIONS", argument_items(command.options));
  if (command.name == "rota policies") out += section("POLICIES", policies()) + section("KNOBS", knobs());
  out += section("EXIT STATUS", exit_status());
  out += section("FILES", files());
  out += section("EXAMPLES", examples(command));
  return out + section("SEE ALSO", see_also(of));
}

}  // namespace rota::cli
