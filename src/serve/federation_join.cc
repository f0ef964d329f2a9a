#include "serve/federation_join.h"

#include <fmt/core.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace rota::serve {
namespace {

constexpr const char* kNumber = "federation";  // in the store: the site's name and number
constexpr std::chrono::seconds kFirstAnswer{15};
constexpr Duration kRequestAgain = seconds(3);  // after which a request without an outcome is sent again

}  // namespace

MemberRules member_rules(const Chain& chain, const Desk& desk, const site::FederationSettings& settings) {
  AuctionKnobs knobs = chain.knobs().auction;
  if (!knobs.auctions()) {  // the policy says nothing of sites
    const auto announced = Chain::parse("fcfs+auction=announced");
    CHECK(announced, "the rule that holds where none is given is a rule");
    knobs = announced->knobs().auction;
  }
  MemberRules rules;
  rules.dispatch = dispatch_rules(knobs, desk.machine()->partitions);
  rules.dispatch.lease = settings.lease;
  rules.dispatch.patience = kRequestAgain;
  rules.dispatch.records = true;
  rules.ahead = knobs.head;
  rules.margin = knobs.margin;
  return rules;
}

Result<EtcdExchangeOptions> etcd_options(Desk& desk, const site::FederationSettings& settings) {
  EtcdExchangeOptions options;
  options.client.endpoints = settings.endpoints;
  options.prefix = settings.prefix;
  options.unix_start = desk.loop().unix_start();
  options.say = [&log = desk.log()](const std::string& sentence) { log.say("federation: " + sentence); };
  for (const auto& [path, into] :
       {std::pair{&settings.authority, &options.client.authority},
        std::pair{&settings.certificate, &options.client.certificate}, std::pair{&settings.key, &options.client.key}}) {
    if (!path->empty()) *into = TRY(read_file(*path));
  }
  return options;
}

// Asked on a loop of its own: nothing else of the service has its turn meanwhile.
Result<SiteId> number_of_site(Desk& desk, const site::FederationSettings& settings,
                              const EtcdExchangeOptions& options) {
  const std::string& name = settings.name;
  if (const auto kept = TRY(desk.store().setting(kNumber))) {
    const auto words = split(*kept, ' ');
    const auto number = parse_integer(words.back());
    if (words.front() != name || !number)
      return fail(
          "[federation] calls this site {}, and its state was made as {}: its jobs are known by that name. Give it "
          "back, or begin with another state.",
          rota::quoted(name), rota::quoted(words.front()));
    return SiteId{static_cast<std::uint32_t>(*number)};
  }
  boost::asio::io_context io;
  RealLoop loop(io, options.unix_start);
  std::optional<SiteId> number;
  const auto exchange =
      TRY(EtcdExchange::open(loop, options, [&io](auto call) { boost::asio::post(io, std::move(call)); }));
  exchange->find_number(name, {}, [&](SiteId site) { number = site; });
  const auto work = boost::asio::make_work_guard(io);
  const auto end = std::chrono::steady_clock::now() + kFirstAnswer;
  while (!number && std::chrono::steady_clock::now() < end) io.run_one_until(end);
  if (!number)
    return fail("etcd at {} cannot be asked, as it has to be when a site joins for the first time{}{}",
                settings.endpoints.front(), exchange->trouble().empty() ? "." : ": ", exchange->trouble());
  if (exchange->epoch_of(*number) != 0)
    return fail(
        "a service of site {} is alive already, with another state: give this one another name in [federation], or "
        "stop "
        "that one and try again after its lease, {}.",
        name, format_duration(settings.lease));
  desk.store().put_setting(kNumber, fmt::format("{} {}", name, number->value));
  return *number;
}

}  // namespace rota::serve
