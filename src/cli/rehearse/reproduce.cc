// rota reproduce STUDY: makes the figures of a published study again and says which agree.
#include <fmt/core.h>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/printed.h"
#include "cli/rehearse/seeds.h"
#include "report/study_page.h"
#include "study/study.h"

namespace rota::cli {
namespace {

using study::Findings;
using study::Study;
using study::StudyOption;

using Json = nlohmann::ordered_json;

constexpr const char* kFooter = "Exit code 3: a figure is not where it should be.\n\n";

std::string table_of(const Study& study, const Findings& findings) {
  return fmt::format("{}{}{}\n{}", findings.tables, findings.tables.empty() ? "" : "\n",
                     report::cells_table(findings.cells, findings.heading),
                     report::commands_table(findings.cells, study.name));
}

Result<void> make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail("Cannot make the folder {}: {}.", shown_path(folder), error.message());
  return {};
}

// The files that the commands of the cells name, into a folder that is made where it is not there.
Result<void> write_inputs(const std::string& folder, const Findings& findings) {
  if (!findings.files) return {};
  if (auto made = make_folder(folder); !made) return made;
  for (const study::StudyFile& input : findings.files()) {
    auto file = TRY(OutputFile::create(fmt::format("{}/{}", folder, input.name)));
    file.stream() << input.text;
    if (auto done = file.commit(); !done) return done;
  }
  return {};
}

Json json_of(const Study& study, const Findings& findings) {
  Json document{{"study", study.name}};
  document.update(
      Json::parse(fmt::format("{{{}}}", findings.members)));  // what is no JSON is a defect, and is told as one
  document["cells"] = Json::parse(report::cells_json(findings.cells));
  return document;
}

struct ReproduceFlags {
  bool json = false;
  std::string report_file;
  std::string inputs;  // folder; empty: they are not written
};

// What belongs to all studies of one command: the page that they go to, if one is wanted, and the exit code.
class Course {
 public:
  static Result<Course> open(const ReproduceFlags& flags, const std::string& name) {
    Course course;
    course.flags_ = flags;
    course.command_ = "rota reproduce " + name;
    course.all_ = name == "all";
    course.page_ = TRY(open_page(flags.report_file));
    if (!flags.inputs.empty()) {
      TRY(make_folder(flags.inputs));
    }
    return course;
  }

  // Runs a study and prints it, with `before` in front.
  Result<void> add(const Study& study, const std::string& before) {
    auto findings = TRY(study.run());
    if (flags_.json) {
      documents_.push_back(json_of(study, findings));
    } else
      TRY(printed(before + table_of(study, findings)));
    if (!flags_.inputs.empty()) {
      const std::string folder = all_ ? fmt::format("{}/{}", flags_.inputs, study.name) : flags_.inputs;
      if (auto done = write_inputs(folder, findings); !done) return done;
    }
    if (!report::all_ok(findings.cells)) code_ = kNo;
    sections_.push_back({study.name, study.about, std::move(findings.tables), std::move(findings.heading),
                         std::move(findings.cells), std::move(findings.plots)});
    return {};
  }

  // Prints what is printed at the end: JSON, of one study or a list of all.
  Result<int> conclude() {
    if (flags_.json) {
      const Json& shown = all_ ? documents_ : documents_.front();
      if (const auto done = printed(shown.dump(2) + "\n"); !done) return done;
    }
    if (!page_) return code_;
    report::write_study_page(page_->stream(), sections_,
                             {.title = "Published studies, made again", .version = ROTA_VERSION, .command = command_});
    TRY(page_->commit());
    return code_;
  }

 private:
  ReproduceFlags flags_;
  std::string command_;
  bool all_ = false;
  std::optional<OutputFile> page_;
  std::vector<report::StudySection> sections_;
  Json documents_ = Json::array();
  int code_ = kDone;
};

Result<int> reproduce(const Study& study, const ReproduceFlags& flags) {
  auto course = TRY(Course::open(flags, study.name));
  TRY(course.add(study, ""));
  return course.conclude();
}

// One after the other, each table printed as soon as it is found; JSON is one array at the end.
Result<int> reproduce_all(const std::vector<Study>& all, const ReproduceFlags& flags) {
  auto course = TRY(Course::open(flags, "all"));
  std::string separator;
  for (const Study& study : all) {
    const std::string title = fmt::format("{}: {}\n\n", study.name, study.about);
    TRY(course.add(study, separator + title));
    separator = "\n";
  }
  return course.conclude();
}

std::shared_ptr<ReproduceFlags> add_flags(Command app) {
  auto flags = std::make_shared<ReproduceFlags>();
  app.add_flag("--json", flags->json, "print the figures as JSON");
  app.add_option("--report", flags->report_file, "write a self-contained HTML page that draws the paper's figures")
      .type_name("FILE.html");
  app.add_option(
         "--inputs", flags->inputs,
         "write what is rehearsed into a folder, as files that rota simulate takes: below the figures stand the "
         "commands that make each of them again there")
      .check([](const std::string& folder) { return folder.empty() ? "the name of a folder is empty" : std::string(); })
      .type_name("DIR");
  return flags;
}

// How many, or the first and the last.
Option add_seeds(Command app, const StudyOption& option, const study::SeedsChosen& chosen) {
  const auto take = [option, chosen](const std::string& text) {
    const bool many = text.find('-') == std::string::npos;
    const auto count = many ? parse_integer(text) : Result<std::int64_t>(0);
    const auto seeds = many ? Result<Seeds>(Seeds{}) : parse_seeds(text);
    if (!count) throw UsageError{fmt::format("{}: {}", option.name, count.error().message)};
    if (!seeds) throw UsageError{seeds.error().message};
    *chosen.count = many ? *count : static_cast<std::int64_t>(seeds->count);
    *chosen.first = seeds->first;
    if (*chosen.count < option.least || *chosen.count > option.most) {
      throw UsageError{fmt::format("{}: it takes {} to {} seeds, and not {}", option.name, option.least,
                                   grouped(option.most), grouped(*chosen.count))};
    }
  };
  return app.add_option_function(option.name, take, option.about).default_str(std::to_string(*chosen.count));
}

void add_option(Command app, const StudyOption& described) {
  const std::string otherwise = described.otherwise.empty() ? "" : "; default: " + described.otherwise;
  const auto declare = [&](const auto& value) {
    if constexpr (std::is_pointer_v<std::decay_t<decltype(value)>>)
      return app.add_option(described.name, *value, described.about + otherwise);
    else
      return add_seeds(app, described, value);
  };
  Option option = std::visit(declare, described.value).type_name(described.shows);
  if (std::holds_alternative<study::SeedsChosen>(described.value)) return;
  const bool number = !std::holds_alternative<std::string*>(described.value);
  if (number) option.range(described.least, described.most);
  if (std::holds_alternative<std::vector<std::int64_t>*>(described.value)) option.delimiter(',');
  if (number && otherwise.empty()) option.capture_default_str();
  if (!described.needs.empty()) option.needs(described.needs);
}

void add_study(Command reproduce_app, Action& action, const Study& study) {
  Command app = reproduce_app.add_subcommand(study.name, study.about);
  app.footer(std::string(kFooter) + "What is done, and how it differs from the paper: docs/reproduce.md.");
  for (const StudyOption& option : study.options) add_option(app, option);
  app.callback(
      [&action, study, flags = add_flags(app)] { action = [study, flags] { return reproduce(study, *flags); }; });
}

void add_all(Command reproduce_app, Action& action) {
  Command app = reproduce_app.add_subcommand("all", "every study, one after the other");
  app.footer(std::string(kFooter) + "Each study runs as it does by itself without options.");
  app.callback(
      [&action, flags = add_flags(app)] { action = [flags] { return reproduce_all(study::all_studies(), *flags); }; });
}

}  // namespace

void add_reproduce(Command app, Action& action) {
  Command reproduce_app = app.add_subcommand("reproduce", "make the figures of a published study again, and compare");
  reproduce_app.require_subcommand(1);
  reproduce_app.footer("Examples:\n  rota reproduce grace --seeds 10\n  rota reproduce all --report studies.html");
  for (const Study& study : study::all_studies()) add_study(reproduce_app, action, study);
  add_all(reproduce_app, action);
}

}  // namespace rota::cli
