// rota sites, auction: the sites of a federation, and how jobs are sold among them.
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

Result<int> list_sites(const ServiceFlags& flags) {
  const auto answer = TRY(Service(flags).get("/v1/sites"));
  if (flags.json) return printed(shown_json(answer));
  if (text_of(answer, "name").empty())
    return fail("this service is no site of a federation; docs/sites.md says how sites are joined.");
  std::vector<std::vector<std::string>> rows;
  for (const Json& row : list_of(answer, "sites")) {
    const auto number = [&](const char* name) { return grouped(static_cast<std::int64_t>(number_of(row, name))); };
    rows.push_back({text_of(row, "name") + (row.value("self", false) ? " (this one)" : ""),
                    row.value("alive", false) ? "alive" : "gone", number("processors"), number("used"), number("asked"),
                    number("offered"), number("jobs")});
  }
  if (const std::string trouble = text_of(answer, "trouble"); !trouble.empty())
    remark("rota: etcd does not answer, and what is shown may be old: " + trouble);
  return printed(table(
      {{"SITE"}, {"STATE"}, {"PROCESSORS", true}, {"USED", true}, {"ASKED", true}, {"OFFERS", true}, {"JOBS", true}},
      rows));
}

std::string seconds_text(double milliseconds) { return fmt::format("{:.1f} s", milliseconds / 1000); }

// One auction: how long it was, and the bids, the one that won with a star.
std::string auction_text(const Json& auction) {
  const double opened = number_of(auction, "opened");
  const std::string winner = text_of(auction, "winner");
  const std::string seller = text_of(auction, "seller");
  std::string text = auction.contains("closed")
                         ? fmt::format("Sold by {} after {}, to {}.\n", seller,
                                       seconds_text(number_of(auction, "closed") - opened), winner)
                         : fmt::format("On offer; {} sells it.\n", seller);
  std::vector<std::vector<std::string>> rows;
  const Json& bids = list_of(auction, "bids");
  std::size_t last = bids.size();  // the winner's bid that counted
  for (std::size_t i = 0; i < bids.size(); ++i) {
    if (!winner.empty() && text_of(bids[i], "site") == winner) last = i;
  }
  for (std::size_t i = 0; i < bids.size(); ++i) {
    const Json& bid = bids[i];
    std::vector<std::string> row{text_of(bid, "site") + (i == last ? " *" : ""),
                                 bid.contains("at") ? seconds_text(number_of(bid, "at") - opened) : "",
                                 grouped(static_cast<std::int64_t>(number_of(bid, "price"))),
                                 seconds_text(number_of(bid, "start")), seconds_text(number_of(bid, "input"))};
    for (const Json& part : list_of(bid, "parts")) row.push_back(fmt::format("{:.3f}", part.get<double>() / 1e9));
    row.resize(8);
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return text + "No site has bid.\n";
  return text + table({{"SITE"},
                       {"AFTER", true},
                       {"PRICE", true},
                       {"START", true},
                       {"INPUT", true},
                       {"RESOURCES", true},
                       {"PREEMPTION", true},
                       {"TRANSFER", true}},
                      rows);
}

Result<int> show_auction(const ServiceFlags& flags, const std::string& job) {
  const auto answer = TRY(Service(flags).get("/v1/jobs/" + percent_encoded(job)));
  const Json& auctions = list_of(answer, "auction");
  if (flags.json) return printed(shown_json(auctions));
  if (auctions.empty())
    return fail("job {} was not sold: it was submitted without --sites, or is about to be offered.", job);
  std::string text;
  for (const Json& auction : auctions) text += (text.empty() ? "" : "\n") + auction_text(auction);
  return printed(text);
}

}  // namespace

void add_site_admin(Command sites, Action& action);  // in site_admin.cc

void add_sites(Command app, Action& action) {
  auto flags = std::make_shared<ServiceFlags>();
  Command command = app.add_subcommand("sites", "list the sites of the federation");
  command.description(
      "PROCESSORS, and how many of them jobs use, and how many waiting jobs ask for. OFFERS: jobs submitted there that "
      "are on offer to all sites. JOBS: jobs of the federation that the site has taken and that have not ended.");
  flags->declare_json(command);
  command.footer("Examples:\n  rota sites");
  command.require_subcommand(0);
  command.callback([&action, flags, command] {
    if (!command.chosen()) action = [flags] { return list_sites(*flags); };
  });
  add_site_admin(command, action);

  auto job = std::make_shared<std::string>();
  auto of_auction = std::make_shared<ServiceFlags>();
  Command auction = app.add_subcommand("auction", "show how a job was sold among the sites");
  auction.description(
      "A bid's PRICE decides; * won. START: how soon the site expected to start the job, INPUT: in that, to bring what "
      "it needs. Prices by `bid=published` are made of three parts, each 1 at best.");
  auction.add_option("JOB", *job, "its number at its home, or where it runs").required();
  of_auction->declare_json(auction);
  auction.footer("Examples:\n  rota auction 12");
  auction.callback(
      [&action, of_auction, job] { action = [of_auction, job] { return show_auction(*of_auction, *job); }; });
}

}  // namespace rota::cli
