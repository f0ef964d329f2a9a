// How tasks of applications come to accelerators. The engine computes tasks; no link decides about them.
#include <algorithm>

#include "policy/registry.h"

namespace rota {
namespace {

constexpr NamedValue kHow[]{{"no", Bind::none},
                            {"node", Bind::node},
                            {"node-literal", Bind::node_literal},
                            {"node-weighted", Bind::node_weighted},
                            {"slot", Bind::slot},
                            {"container", Bind::container},
                            {"weighted", Bind::weighted},
                            {"late", Bind::late}};

constexpr Knob kKnobs[]{
    {.name = "bind",
     .names = kHow,
     .fallback = "no",
     .meaning = "how tasks of an application come to the accelerators of a rack",
     .source = "Li, Zhu, Liu and Qian 2016 (node-literal); Rota",
     .set = put<&ChainKnobs::bind>},
    {.name = "bind-time",
     .range = Range::time(),
     .fallback = "0",
     .meaning = "slot: how long it takes until a slot that has been bound, or bound anew, is served",
     .source = "Rota",
     .set = put<&ChainKnobs::bind_time>,
     .idle = [](const ChainKnobs& k) -> std::string_view { return k.bind == Bind::slot ? "" : "it is for bind=slot"; }},
};

constexpr EngineNeed kNeeds[]{{"bind", Capability::tasks, [](const ChainKnobs& k) { return k.bind != Bind::none; }}};

std::string_view breaks_reservations(const ChainKnobs& k) {
  return k.bind == Bind::none ? "" : "bind uses accelerators without looking at what is reserved";
}

}  // namespace

std::string_view name_of(Bind bind) {
  return std::ranges::find(kHow, static_cast<std::int64_t>(bind), &NamedValue::stands_for)->name;
}

constinit const Module kBindModule{
    .name = "bind", .knobs = kKnobs, .engine = kNeeds, .breaks_reservations = breaks_reservations};

}  // namespace rota
