// rota token: which users may ask the service over the network.
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

namespace rota::cli {
namespace {

struct TokenFlags {
  ServiceFlags service;
  std::string user, comment;
  std::string expires = "90d";
  bool operates = false, read_only = false;
  std::vector<std::string> ids;
};

Result<int> create(const TokenFlags& flags) {
  const auto life = parse_duration(flags.expires);
  if (!life) return fail("--expires takes a time such as 12h or 90d, not {}.", rota::quoted(flags.expires));
  Json body{{"operator", flags.operates}, {"read_only", flags.read_only}, {"life", life->count() / 1000}};
  if (!flags.user.empty()) body["user"] = flags.user;
  if (!flags.comment.empty()) body["comment"] = flags.comment;
  const auto token = TRY(Service(flags.service).post("/v1/tokens", body));
  if (flags.service.json) return printed(shown_json(token));
  remark(fmt::format("rota: token {} of {}, until {}. It is shown this once; keep it where no other user can read it.",
                     text_of(token, "id"), text_of(token, "user"), time_text(number_of(token, "expires"))));
  return printed(text_of(token, "token") + "\n");
}

Result<int> list(const TokenFlags& flags) {
  const auto answer = TRY(Service(flags.service).get("/v1/tokens"));
  if (flags.service.json) return printed(shown_json(answer));
  std::vector<std::vector<std::string>> rows;
  for (const Json& token : list_of(answer, "tokens")) {
    std::string may = flag_of(token, "read_only") ? "read" : "all of its user";
    if (flag_of(token, "operator")) may += ", operator";
    rows.push_back({text_of(token, "id"), text_of(token, "user"), may, time_text(number_of(token, "made")),
                    flag_of(token, "expired") ? "over" : time_text(number_of(token, "expires")),
                    text_of(token, "comment")});
  }
  return printed(table({{"TOKEN"}, {"USER"}, {"MAY"}, {"MADE"}, {"EXPIRES"}, {"COMMENT"}}, rows));
}

Result<int> revoke(const TokenFlags& flags) {
  const Service service(flags.service);
  for (const std::string& id : flags.ids) {
    TRY(service.remove("/v1/tokens/" + percent_encoded(id)));
  }
  return kDone;
}

}  // namespace

void add_token(Command app, Action& action) {
  auto flags = std::make_shared<TokenFlags>();
  Command command = app.add_subcommand("token", "make, list and revoke tokens, by which a service is asked from afar");
  command.description(
      "A token stands for a user of the service's computer. These commands work there only, at the "
      "service's socket.");
  command.require_subcommand(1);
  Command make = command.add_subcommand("create", "make a token and print it, this once");
  make.add_option("--user", flags->user,
                  "the user that it is for; without: yourself. Only root makes tokens for other users")
      .type_name("NAME");
  make.add_flag("--operator", flags->operates, "it may do what its user may as an operator");
  make.add_flag("--read-only", flags->read_only, "it changes nothing: for Prometheus and the like");
  make.add_option("--expires", flags->expires, "how long it is valid").type_name("TIME").capture_default_str();
  make.add_option("--comment", flags->comment, "a comment, which `rota token list` shows").type_name("TEXT");
  flags->service.declare_json(make);
  make.footer(
      "Examples:\n  rota token create --expires 30d > token\n  rota token create --user prometheus --read-only");
  make.callback([&action, flags] { action = [flags] { return create(*flags); }; });
  Command show = command.add_subcommand("list", "list one's own tokens; operators see all");
  flags->service.declare_json(show);
  show.footer("Examples:\n  rota token list");
  show.callback([&action, flags] { action = [flags] { return list(*flags); }; });
  Command drop = command.add_subcommand("revoke", "make tokens invalid");
  drop.add_option("TOKEN", flags->ids, "what `rota token list` calls them").required();
  flags->service.declare(drop);
  drop.footer("Examples:\n  rota token revoke 3f9c0a71b2de");
  drop.callback([&action, flags] { action = [flags] { return revoke(*flags); }; });
  command.footer("Examples:\n  rota token create\n  rota token list");
}

}  // namespace rota::cli
