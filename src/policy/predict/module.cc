// How long planning expects jobs to run.
#include "policy/registry.h"

namespace rota {
namespace {

constexpr NamedValue kEstimators[]{{"limit", Estimator::limit}, {"tsafrir", Estimator::tsafrir}};

std::string_view no_run_time_is_asked(const ChainKnobs& k) {
  const bool asked = k.backfill.promises > 0 || asks_run_time(k.order) || asks_run_time(k.candidates);
  return k.estimator == Estimator::limit || asked
             ? ""
             : "nothing is promised with depth=0, and no order asks how long jobs run";
}

constexpr Knob kKnobs[]{
    {.name = "predict",
     .names = kEstimators,
     .fallback = "limit",
     .meaning = "the run time that planning counts on",
     .source = "Tsafrir, Etsion and Feitelson 2007",
     .set = put<&ChainKnobs::estimator>,
     .idle = no_run_time_is_asked},
};

void ask(const ChainKnobs& k, ClusterOptions& options) { options.user_history = k.estimator != Estimator::limit; }

constexpr PolicyName kPolicies[]{
    {"easy++", "easypp easypp_tsafrir", "depth=1+candidates=sjf+predict=tsafrir",
     "EASY-SJBF on predicted run times; a prediction never kills", "Tsafrir, Etsion and Feitelson 2007"},
};

}  // namespace

constinit const Module kPredictModule{.name = "predict", .knobs = kKnobs, .policies = kPolicies, .ask = ask};

}  // namespace rota
