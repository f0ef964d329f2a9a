// Which jobs start, and which are promised a start.
#include "policy/registry.h"

namespace rota {
namespace {

constexpr NamedValue kNodeOrders[]{{"fullest", NodeOrder::fullest}, {"least-loaded", NodeOrder::least_loaded}};
constexpr NamedValue kAll[]{{"all", BackfillKnobs::kEveryJob}};

bool one_promise(const ChainKnobs& k) { return k.backfill.promises == 1; }
std::string_view for_one_promise(bool set, const ChainKnobs& k) {
  return set && !one_promise(k) ? "it is for depth=1" : "";
}

constexpr Knob kKnobs[]{
    {.name = "depth",
     .names = kAll,
     .range = Range::whole(0, 100'000),
     .fallback = "1",
     .unit = "jobs",
     .meaning = "how many blocked jobs, in queue order, are promised a start",
     .source = "Mu'alem and Feitelson 2001",
     .set = put<&ChainKnobs::backfill, &BackfillKnobs::promises>},
    {.name = "skip",
     .names = kYesOrNo,
     .fallback = "no",
     .meaning = "with depth=0: jobs that fit overtake those that do not",
     .source = "textbook",
     .set = put<&ChainKnobs::backfill, &BackfillKnobs::skip>,
     .idle = [](const ChainKnobs& k) -> std::string_view {
       return k.backfill.skip && k.backfill.promises != 0
                  ? "it is for depth=0; with promises, jobs that fit overtake anyway"
                  : "";
     }},
    {.name = "beside",
     .names = kYesOrNo,
     .fallback = "yes",
     .meaning = "a backfilled job may outlast the promise on processors that the promised job leaves over",
     .source = "Mu'alem and Feitelson 2001",
     .set = put<&ChainKnobs::backfill, &BackfillKnobs::beside>,
     .idle = [](const ChainKnobs& k) { return for_one_promise(!k.backfill.beside, k); }},
    {.name = "fixed",
     .names = kYesOrNo,
     .fallback = "no",
     .meaning = "a promise stays as first made until its job starts",
     .source = "a reading of Li and Lei 2018",
     .set = put<&ChainKnobs::backfill, &BackfillKnobs::fixed>,
     .idle = [](const ChainKnobs& k) { return for_one_promise(k.backfill.fixed, k); }},
    {.name = "stretch",
     .range = Range::hundredths(1, 10),
     .fallback = "1.0",
     .unit = "times the estimate",
     .meaning = "a backfilled job must end before the promise even if it takes so many times its estimate",
     .source = "Rota, after Li and Lei 2018",
     .set = put_hundredths<&ChainKnobs::backfill, &BackfillKnobs::stretch>,
     .idle = [](const ChainKnobs& k) { return for_one_promise(k.backfill.stretch != 100, k); }},
    {.name = "pass",
     .range = Range::whole(0, 1'000'000),
     .fallback = "16",
     .unit = "times its processors",
     .meaning =
         "while a job without a limit keeps the first blocked job waiting, others that fit start before it until "
         "those without a limit have asked for so many times its processors",
     .source = "after first fit, which starves wide jobs",
     .set = put<&ChainKnobs::backfill, &BackfillKnobs::pass>,
     .idle = [](const ChainKnobs& k) { return for_one_promise(k.backfill.pass != 16, k); }},
    {.name = "nodes",
     .names = kNodeOrders,
     .fallback = "fullest",
     .meaning =
         "on which of the nodes that have room a job runs, and which are set aside for it: where it leaves the least "
         "over, or where the least share is in use",
     .source = "best fit; Li and Lei 2018",
     .set = put<&ChainKnobs::backfill, &BackfillKnobs::nodes>,
     .idle = [](const ChainKnobs& k) -> std::string_view {
       return k.slurm.planner && k.backfill.nodes != NodeOrder::fullest ? "policy slurm takes nodes as Slurm does" : "";
     }},
};

std::unique_ptr<Policy> link(const ChainKnobs& k) {
  return k.slurm.planner ? nullptr : std::make_unique<Backfill>(k.backfill);
}

void ask(const ChainKnobs& k, ClusterOptions& options) {
  const std::int32_t depth = k.backfill.promises;
  const bool conservative = depth == BackfillKnobs::kEveryJob;
  options.waiting.by_size |= (depth > 0 || k.backfill.skip) && !conservative;
  options.waiting.by_queue |= conservative || depth != 1;
  options.most_promises = depth;
  options.node_order = k.backfill.nodes;
}

std::string_view breaks_reservations(const ChainKnobs& k) {
  return k.backfill.fixed ? "fixed=yes keeps a promise as first made, whatever is reserved later" : "";
}

constexpr PolicyName kPolicies[]{
    {"fcfs", "fifo", "depth=0", "first come, first served; no job overtakes", "textbook"},
    {"fcfs-skip", "first-fit ff", "depth=0+skip=yes", "in queue order, every job that fits starts; nothing is promised",
     "textbook"},
    {"easy", "", "depth=1", "the first blocked job is promised a start; others may overtake if they do not delay it",
     "Lifka 1995; Mu'alem and Feitelson 2001"},
    {"easy-sjbf", "easysjbf", "depth=1+candidates=sjf", "EASY that tries short jobs first when it backfills",
     "Tsafrir, Etsion and Feitelson 2007"},
    {"conservative", "cons", "depth=all", "every job is promised a start, which never moves later",
     "Mu'alem and Feitelson 2001"},
};

}  // namespace

constinit const Module kBackfillModule{.name = "backfill",
                                       .knobs = kKnobs,
                                       .policies = kPolicies,
                                       .link = link,
                                       .ask = ask,
                                       .breaks_reservations = breaks_reservations};

}  // namespace rota
