#include "report/grants.h"

#include "base/text.h"
#include "report/readable.h"

namespace rota::report {
namespace {

std::string processors(std::int64_t n) { return amount(n, "processor"); }

std::string were_free(std::int64_t n) { return grouped(n) + (n == 1 ? " was free" : " were free"); }

std::string why_harmless(const Grant& grant, const GrantContext& context) {
  if (grant.beneficiary < 0) return "No waiting job had been promised a start, so nobody could lose one.";
  const std::string waiting = "Job " + std::to_string(grant.beneficiary);
  if (grant.free >= grant.needed)
    return waiting + " needs " + processors(grant.needed) + " and " + were_free(grant.free) +
           ": it can start without those of this job.";
  if (context.processors > 0 && grant.free + context.processors < grant.needed)
    return waiting + " needs " + processors(grant.needed) + "; even with the " + grouped(context.processors) +
           " of this job only " + grouped(grant.free + context.processors) +
           " would have been free: stopping it would have helped nobody.";
  if (grant.until <= grant.promise && grant.promise != kNever)
    return waiting + " needs " + processors(grant.needed) + " (" + were_free(grant.free) +
           "), but not before its promised start, " + readable(grant.promise, context.unix_start) + ".";
  return waiting + " needs " + processors(grant.needed) + " and " + were_free(grant.free) +
         " when this was decided; its promised start is " + readable(grant.promise, context.unix_start) + ".";
}

}  // namespace

std::string grant_reason(const Grant& grant, const GrantContext& context) {
  std::string text = grant.until == kNever ? "May go on until its processors are needed. "
                                           : "May go on for " + readable(grant.until - grant.at) + ". ";
  return text + why_harmless(grant, context);
}

}  // namespace rota::report
