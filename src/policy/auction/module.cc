// At which site of a federation a job runs. Dispatchers decide between sites; no link does.
#include <cmath>

#include "policy/registry.h"

namespace rota {
namespace {

constexpr std::string_view kBaranov = "Baranov et al. 2018";

constexpr NamedValue kSitings[]{
    {"none", Siting::none},     {"english", Siting::english},         {"announced", Siting::announced},
    {"random", Siting::random}, {"round-robin", Siting::round_robin}, {"least-loaded", Siting::least_loaded},
    {"race", Siting::race},     {"staged-race", Siting::staged_race}};
constexpr NamedValue kBids[]{
    {"published", Valuation::published}, {"rate", Valuation::by_rate}, {"plan", Valuation::by_plan}};
constexpr NamedValue kCloses[]{
    {"on-time", Close::on_time}, {"unbeatable", Close::unbeatable}, {"stopping", Close::stopping}};
constexpr NamedValue kJoins[]{{"look", Joining::look}, {"freed", Joining::freed}};
constexpr NamedValue kNo[]{{"no", 0}};

template <auto Member>
constexpr auto auction = put<&ChainKnobs::auction, Member>;

std::string_view for_auctions(const ChainKnobs& k) {
  return k.auction.auctions() ? "" : "it is for auction=english and auction=announced";
}
std::string_view for_published_bids(const ChainKnobs& k) {
  if (!k.auction.auctions()) return for_auctions(k);
  return k.auction.by_expected_start() ? "it is for auction-bid=published" : "";
}
std::string_view for_english(const ChainKnobs& k) {
  if (!k.auction.auctions()) return for_auctions(k);
  return k.auction.siting == Siting::english ? "" : "it is for auction=english";
}
std::string_view for_bids_by_start(const ChainKnobs& k) {
  if (!k.auction.auctions()) return for_auctions(k);
  return k.auction.by_expected_start() ? "" : "it is for auction-bid=plan and auction-bid=rate";
}

// A site that is idle bids as much at least, though all its nodes sleep and the input is as far away as can be: so no
// job is left unsold for ever.
constexpr double kMostMinimum = 0.3333;

void set_minimum(ChainKnobs& k, const KnobValue& value) {
  k.auction.minimum = value.named ? kAnyPrice : std::llround(value.number * 1e9);
}

// Where all sites hear at once, no auction need wait for a site that looks late, and a site that has to wait can say
// for how long: so announced auctions have other defaults.
constexpr OtherDefault announced(std::string_view fallback) { return {"auction", "announced", fallback}; }

constexpr Knob kKnobs[]{
    {.name = "auction",
     .names = kSitings,
     .fallback = "none",
     .meaning = "with several sites: where a job runs; none is where it was submitted, race what Slurm's federation "
                "does",
     .source = "Baranov et al. 2018 (english); Slurm's federation (race); Rota",
     .set = auction<&AuctionKnobs::siting>},
    {.name = "auction-round",
     .range = Range::time(seconds(1)),
     .fallback = "20m",
     .other = announced("30s"),
     .meaning = "english, announced: how long a round lasts",
     .source = kBaranov,
     .set = auction<&AuctionKnobs::round>,
     .idle = for_auctions},
    {.name = "auction-look",
     .range = Range::time(seconds(1)),
     .fallback = "20m",
     .meaning = "english: how often a site looks at the global queue",
     .source = "Rota",
     .set = auction<&AuctionKnobs::look>,
     .idle = for_english},
    {.name = "auction-join",
     .names = kJoins,
     .fallback = "look",
     .meaning = "english, bids as published: a site takes part when it looks and can offer processors, or the moment "
                "processors come free there",
     .source = kBaranov,
     .set = auction<&AuctionKnobs::join>,
     .idle =
         [](const ChainKnobs& k) {
           const std::string_view why = for_english(k);
           return why.empty() ? for_published_bids(k) : why;
         }},
    {.name = "auction-minimum",
     .names = kNo,
     .range = Range::number(0, kMostMinimum),
     .fallback = "no",
     .meaning = "english, announced: a bid as published that is below it does not count",
     .source = kBaranov,
     .set = set_minimum,
     .idle = for_published_bids},
    {.name = "auction-buyers",
     .range = Range::whole(1, 1000),
     .fallback = "1",
     .unit = "sites",
     .meaning = "english, announced: so many must have joined before a job is sold, or all that live and could run it",
     .source = kBaranov,
     .set = auction<&AuctionKnobs::buyers>,
     .idle = for_auctions},
    {.name = "auction-head",
     .names = kYesOrNo,
     .fallback = "no",
     .meaning = "english, announced: a job that was won goes before others of its priority in the queue of its site",
     .source = kBaranov,
     .set = auction<&AuctionKnobs::head>,
     .idle = for_auctions},
    {.name = "auction-early",
     .names = kYesOrNo,
     .fallback = "no",
     .meaning = "english, announced: a job that was won has its place in the queue while its input is brought",
     .source = kBaranov,
     .set = auction<&AuctionKnobs::early>,
     .idle = for_auctions},
    {.name = "auction-bid",
     .names = kBids,
     .fallback = "published",
     .other = announced("plan"),
     .meaning = "english, announced: sites bid free processors as published, or how soon a job would start, by rate or "
                "by plan",
     .source = "after Baranov et al. 2018 (published); Rota",
     .set = auction<&AuctionKnobs::bid>,
     .idle = for_auctions},
    {.name = "auction-close",
     .names = kCloses,
     .fallback = "on-time",
     .other = announced("stopping"),
     .meaning = "english, announced: a round closes at its end, or once no bid can be better, or once waiting does not "
                "pay",
     .source = "Baranov et al. 2018 (on-time); Rota",
     .set = auction<&AuctionKnobs::close>,
     .idle = for_auctions},
    {.name = "auction-patience",
     .range = Range::time(),
     .fallback = "0",
     .meaning = "stopping: mean time until a site that has not bid does",
     .source = "Rota",
     .set = auction<&AuctionKnobs::patience>,
     .idle = [](const ChainKnobs& k) -> std::string_view {
       if (!k.auction.auctions()) return for_auctions(k);
       return k.auction.close == Close::stopping ? "" : "it is for auction-close=stopping";
     }},
    {.name = "auction-margin",
     .range = Range::time(),
     .fallback = "1m",
     .meaning = "bids by rate and plan: a job leaves its site only to start so much sooner",
     .source = "Rota",
     .set = auction<&AuctionKnobs::margin>,
     .idle = for_bids_by_start},
    {.name = "auction-run-time",
     .range = Range::time(seconds(1)),
     .fallback = "1h",
     .meaning = "english, announced: what sites take for the mean run time of jobs",
     .source = "Rota",
     .set = auction<&AuctionKnobs::mean_run_time>,
     .idle = for_auctions},
    {.name = "auction-spare",
     .range = Range::number(0, 100),
     .fallback = "0.3",
     .unit = "mean run times",
     .meaning = "bids by rate and plan: so much later an empty site may be than a full one",
     .source = "Rota",
     .set = auction<&AuctionKnobs::spare>,
     .idle = for_bids_by_start},
    {.name = "auction-second-thoughts",
     .names = kNo,
     .range = Range::time(seconds(1)),
     .fallback = "no",
     .meaning = "announced, english: how often sites bid again, by rate or plan, on a job that was won and waits",
     .source = "Rota",
     .set = auction<&AuctionKnobs::second_thoughts>,
     .idle = for_bids_by_start},
    {.name = "auction-seed",
     .range = Range::whole(0, INT64_MAX),
     .fallback = "1",
     .meaning = "random, race: seed of what is left to chance",
     .source = "textbook",
     .set = auction<&AuctionKnobs::seed>,
     .idle = [](const ChainKnobs& k) -> std::string_view {
       const bool chance = k.auction.siting == Siting::random || k.auction.siting == Siting::race;
       return chance ? "" : "it is for auction=random and auction=race";
     }},
};

// Each bid by expected start walks the jobs that would go first, and each look at the load all jobs that wait.
void ask(const ChainKnobs& k, ClusterOptions& options) {
  options.waiting.by_queue |= k.auction.by_expected_start() || k.auction.siting == Siting::least_loaded;
}

constexpr EngineNeed kNeeds[]{
    {"auction", Capability::sites, [](const ChainKnobs& k) { return k.auction.siting != Siting::none; }}};

std::string_view breaks_reservations(const ChainKnobs& k) {
  return k.auction.siting == Siting::none ? "" : "auction bids without looking at what is reserved";
}

// The paper names no scheduler for what waits at a site but by priority.
constexpr PolicyName kPolicies[]{
    {"english-auction", "",
     "depth=0+skip=yes+preempt=suspend+overrun=run-on+auction=english+auction-join=freed+auction-minimum=0"
     "+auction-buyers=2+auction-head=yes+auction-early=yes",
     "with several sites: the English auction with absolute priorities to the letter of its paper", kBaranov},
};

}  // namespace

constinit const Module kAuctionModule{.name = "auction",
                                      .knobs = kKnobs,
                                      .policies = kPolicies,
                                      .ask = ask,
                                      .engine = kNeeds,
                                      .breaks_reservations = breaks_reservations};

}  // namespace rota
