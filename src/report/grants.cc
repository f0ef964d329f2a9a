#include "report/grants.h"

#include <fmt/core.h>

#include "base/text.h"
#include "report/readable.h"

namespace rota::report {
namespace {

std::string processors(std::int64_t n) { return amount(n, "processor"); }

std::string were_free(std::int64_t n) { return grouped(n) + (n == 1 ? " was free" : " were free"); }

std::string why_harmless(const Grant& grant, const GrantContext& context) {
  if (grant.beneficiary < 0) return "No waiting job had been promised a start, so no job could lose one.";
  const std::string waiting = "Job " + std::to_string(grant.beneficiary);
  if (grant.free >= grant.needed)
    return fmt::format("{} needs {} and {}: it can start without those of this job.", waiting, processors(grant.needed),
                       were_free(grant.free));
  if (context.processors > 0 && grant.free + context.processors < grant.needed)
    return fmt::format(
        "{} needs {}; even with the {} of this job only {} would have been free: stopping it would have helped no job.",
        waiting, processors(grant.needed), grouped(context.processors), grouped(grant.free + context.processors));
  if (grant.until <= grant.promise && grant.promise != kNever)
    return fmt::format("{} needs {} ({}), but not before its promised start, {}.", waiting, processors(grant.needed),
                       were_free(grant.free), readable(grant.promise, context.unix_start));
  return fmt::format("{} needs {} and {} when this was decided; its promised start is {}.", waiting,
                     processors(grant.needed), were_free(grant.free), readable(grant.promise, context.unix_start));
}

}  // namespace

std::string grant_reason(const Grant& grant, const GrantContext& context) {
  std::string text = grant.until == kNever ? "May go on until its processors are needed. "
                                           : fmt::format("May go on for {}. ", readable(grant.until - grant.at));
  return text + why_harmless(grant, context);
}

}  // namespace rota::report
