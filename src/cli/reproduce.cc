// rota reproduce STUDY: makes the figures of a published study again and says which agree.
#include <memory>

#include "cli/auction_study.h"
#include "cli/command.h"
#include "cli/grace_study.h"
#include "cli/printed.h"
#include "cli/study.h"
#include "report/formatted.h"

namespace rota::cli {
namespace {

std::vector<Study> studies() {
  return {
      grace_study(),
      auction_study(),
  };
}

constexpr const char* kFooter = "Exit code 1: a figure is not where it should be.\n\n";

std::string table_of(const Findings& findings) {
  return findings.tables + (findings.tables.empty() ? "" : "\n") +
         report::cells_table(findings.cells, findings.heading);
}

std::string json_of(const Study& study, const Findings& findings) {
  return report::formatted("{\n  \"study\": \"%s\",\n  ", study.name.c_str()) + findings.members +
         (findings.members.empty() ? "" : ",\n  ") + "\"cells\": " + report::cells_json(findings.cells) + "\n}";
}

Result<int> reproduce(const Study& study, bool json) {
  const auto findings = study.run();
  if (!findings) return std::unexpected(findings.error());
  const auto done = printed(json ? json_of(study, *findings) + "\n" : table_of(*findings));
  return !done || report::all_ok(findings->cells) ? done : kFailed;
}

// One after the other, each as soon as it is found; JSON is one array.
Result<int> reproduce_all(const std::vector<Study>& all, bool json) {
  int code = kDone;
  const char* separator = json ? "[\n" : "";
  for (const Study& study : all) {
    const auto findings = study.run();
    if (!findings) return std::unexpected(findings.error());
    const auto done = printed(separator + (json ? json_of(study, *findings)
                                                : study.name + ": " + study.about + "\n\n" + table_of(*findings)));
    if (!done) return done;
    if (!report::all_ok(findings->cells)) code = kFailed;
    separator = json ? ",\n" : "\n";
  }
  if (json) {
    if (const auto done = printed("\n]\n"); !done) return done;
  }
  return code;
}

std::shared_ptr<bool> add_json(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print the figures as JSON");
  return json;
}

void add_study(CLI::App& reproduce_app, Action& action, const Study& study) {
  CLI::App* app = reproduce_app.add_subcommand(study.name, study.about);
  app->footer(std::string(kFooter) + "What is done, and how it differs from the paper: docs/reproduce.md.");
  if (study.options) study.options(*app);
  app->callback(
      [&action, study, json = add_json(*app)] { action = [study, json] { return reproduce(study, *json); }; });
}

void add_all(CLI::App& reproduce_app, Action& action) {
  CLI::App* app = reproduce_app.add_subcommand("all", "every study, one after the other");
  app->footer(std::string(kFooter) + "Each study runs as it does by itself without options.");
  app->callback([&action, json = add_json(*app)] { action = [json] { return reproduce_all(studies(), *json); }; });
}

}  // namespace

void add_reproduce(CLI::App& app, Action& action) {
  CLI::App* reproduce_app = app.add_subcommand("reproduce", "make the figures of a published study again, and compare");
  reproduce_app->require_subcommand(1);
  reproduce_app->footer("Examples:\n  rota reproduce grace --seeds 10");
  for (const Study& study : studies()) add_study(*reproduce_app, action, study);
  add_all(*reproduce_app, action);
}

}  // namespace rota::cli
