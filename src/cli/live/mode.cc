// rota mode: what Rota does to a cluster that Slurm runs, and may do.
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "cli/live/service.h"
#include "cli/printed.h"
#include "cli/when.h"
#include "control/mandates.h"

namespace rota::cli {
namespace {

struct ModeFlags {
  ServiceFlags service;
  std::string mechanism, mode, rule, until;
  std::vector<std::string> partitions;
};

std::string whole(const Json& object, const char* name) {
  return std::to_string(static_cast<std::int64_t>(number_of(object, name)));
}

std::string modes_text(const Json& answer) {
  const Json& modes = list_of(answer, "modes");
  if (modes.empty() && !text_of(answer, "trouble").empty()) return one_line(text_of(answer, "trouble")) + "\n";
  if (modes.empty()) return "No mode was ever set here: Rota only watches. See `rota mode --help`.\n";
  std::vector<std::vector<std::string>> rows;
  std::string fell;
  for (const Json& row : modes) {
    rows.push_back({text_of(row, "mechanism"), text_of(row, "partition"), text_of(row, "mode"), text_of(row, "rule"),
                    has_number(row, "until") ? time_text(number_of(row, "until")) : "-", whole(row, "misplaced"),
                    time_text(number_of(row, "since"))});
    if (const std::string why = text_of(row, "fell"); !why.empty())
      fell += fmt::format("{} on {} only observes since it stopped acting: {}\n", text_of(row, "mechanism"),
                          text_of(row, "partition"), one_line(why));
  }
  return table({{"MECHANISM"}, {"PARTITION"}, {"MODE"}, {"ORDER"}, {"UNTIL"}, {"MISPLACED", true}, {"SET"}}, rows) +
         fell;
}

std::string advice_text(const Json& answer) {
  const Json& advice = list_of(answer, "advice");
  std::string text =
      has_number(answer, "looked")
          ? fmt::format("\nLooked at {}; {} written by this service.\n", time_text(number_of(answer, "looked")),
                        amount(static_cast<std::int64_t>(number_of(answer, "written")), "factor"))
          : "\nNot worked out yet: it is with the next reading of Slurm.\n";
  if (const std::string trouble = text_of(answer, "trouble"); !trouble.empty())
    text += "The last time it could not be done: " + one_line(trouble) + "\n";
  if (advice.empty()) return text;
  std::vector<std::vector<std::string>> rows;
  for (const Json& row : advice)
    rows.push_back({text_of(row, "job"), text_of(row, "partition"), whole(row, "place"), whole(row, "wanted"),
                    whole(row, "factor"), whole(row, "to")});
  return text + "\n" +
         table({{"JOB"}, {"PARTITION"}, {"PLACE", true}, {"WANTED", true}, {"SITEFACTOR", true}, {"TO", true}}, rows);
}

Result<int> mode(const ModeFlags& flags) {
  const Service service(flags.service);
  if (flags.mechanism.empty()) {
    const auto answer = TRY(service.get("/v1/modes"));
    if (flags.service.json) return printed(shown_json(answer));
    return printed(modes_text(answer) + (list_of(answer, "modes").empty() ? "" : advice_text(answer)));
  }
  if (flags.mode.empty())
    return fail("say which mode {} is to have: off, observe, advise or act. `rota mode` alone shows what it has.",
                rota::quoted(flags.mechanism));
  Json body{{"mode", flags.mode}, {"partitions", flags.partitions}};
  if (!flags.rule.empty()) body["rule"] = flags.rule;
  if (!flags.until.empty()) {
    const auto until = parse_when(flags.until, unix_now());
    if (!until) return fail("--until: " + until.error().message);
    body["until"] = *until;
  }
  const auto answer = TRY(service.put("/v1/modes/" + percent_encoded(flags.mechanism), body));
  return printed(flags.service.json ? shown_json(answer) : modes_text(answer));
}

}  // namespace

void add_mode(Command app, Action& action) {
  auto flags = std::make_shared<ModeFlags>();
  Command command = app.add_subcommand("mode", "show or set what Rota does to a cluster that Slurm runs");
  command.description(
      "For a service beside Slurm (`rota serve --engine slurm`). Each mechanism has a mode on each partition: off; "
      "observe, it is counted how many jobs it would move; advise, these are shown; act, it is done. The one mechanism "
      "is "
      "`order`: waiting jobs of the partition exchange places, by Slurm's SiteFactor, so that they start in an order "
      "of "
      "Rota's. What is written stands in `rota actions`, and `rota undo` takes it back. For operators only; without a "
      "mechanism it shows what there is.");
  command.add_option("MECHANISM", flags->mechanism, "order");
  command.add_option("MODE", flags->mode, "off, observe, advise or act").one_of({"off", "observe", "advise", "act"});
  command.add_option("-p,--partition", flags->partitions, "where; one or several with commas")
      .type_name("NAME[,NAME...]")
      .delimiter(',');
  command
      .add_option("--order", flags->rule,
                  "the order, as the knob `order` of a policy has it, and further knobs; or `licences`: jobs whose "
                  "licences are free go first; patience: after so long a job goes before all others; without: as "
                  "before, or sjf")
      .type_name("ORDER[+KNOB=VALUE...][+patience=TIME]");
  command
      .add_option("--until", flags->until,
                  "then it only observes, and factors are taken back: friday, 2026-12-01T08:00")
      .type_name("WHEN");
  flags->service.declare_json(command);
  command.footer(
      "Examples:\n"
      "  rota mode order advise --partition main --order sjf+predict=tsafrir\n"
      "  rota mode order act --partition main,debug --order sjf+patience=12h --until friday\n"
      "  rota mode order off --partition main");
  command.callback([&action, flags] { action = [flags] { return mode(*flags); }; });
}

}  // namespace rota::cli
