#include "report/trust.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/metrics.h"
#include "report/readable.h"

namespace rota::report {
namespace {

constexpr double kClose = 0.05;
constexpr double kRough = 0.25;
constexpr double kRounding = 1e-9;
constexpr double kCloseCorrelation = 0.9;
constexpr double kRoughCorrelation = 0.7;

std::string times_as_long(const Trust& trust) {
  const auto ratio = trust.ratio();
  if (!ratio) return "waits " + readable_seconds(trust.mean) + " where nobody really waited";
  return readable_number(*ratio, 2) + " times the recorded mean wait";
}

std::string correlation_of(const Trust& trust) {
  return trust.correlation ? "correlation " + readable_number(*trust.correlation, 2)
                           : "no correlation (waits are all alike)";
}

std::string believed(const Summary& own) {
  const Trust& trust = *own.trust;
  const std::string what = " " + own.name() + " rehearses what the site has now, and ";
  switch (likeness(trust)) {
    case Likeness::close:
      return what +
             "comes within 5 % of the recorded mean wait with a correlation of at least 0.9: differences between the "
             "rows that are clearly larger than that can be trusted.";
    case Likeness::rough:
      return what +
             "comes within 25 % of the recorded mean wait with a correlation of at least 0.7: trust the order of "
             "policies that are far apart, not their figures.";
    case Likeness::poor:
      break;
  }
  return what +
         "does not meet what really happened: the log, the cluster file or the policy's settings leave something out "
         "that mattered. Compare the rehearsed rows with each other only.";
}

}  // namespace

void WaitsBeside::add(Duration rehearsed, Duration recorded) {
  const double x = to_seconds(rehearsed);
  const double y = to_seconds(recorded);
  const auto n = static_cast<double>(++jobs_);
  const double from_mean = x - mean_;
  const double from_recorded = y - recorded_;
  mean_ += from_mean / n;
  recorded_ += from_recorded / n;
  squares_ += from_mean * (x - mean_);
  recorded_squares_ += from_recorded * (y - recorded_);
  products_ += from_mean * (y - recorded_);
}

std::optional<Trust> WaitsBeside::conclude() const {
  if (jobs_ == 0) return std::nullopt;
  Trust trust{jobs_, mean_, recorded_, std::nullopt};
  if (squares_ > 0 && recorded_squares_ > 0)
    trust.correlation = std::clamp(products_ / std::sqrt(squares_ * recorded_squares_), -1.0, 1.0);
  return trust;
}

Likeness likeness(const Trust& trust) {
  const auto ratio = trust.ratio();
  if (!ratio || !trust.correlation) return Likeness::poor;
  const double off = std::abs(*ratio - 1);
  if (off <= kClose + kRounding && *trust.correlation >= kCloseCorrelation) return Likeness::close;
  return off <= kRough + kRounding && *trust.correlation >= kRoughCorrelation ? Likeness::rough : Likeness::poor;
}

std::string trust_text(std::span<const Summary> summaries) {
  std::string text;
  std::int64_t jobs = 0;
  const Summary* own = nullptr;
  for (const Summary& summary : summaries) {
    if (summary.recorded || !summary.trust) continue;
    text += (text.empty() ? "" : "; ") + summary.name() + " has " + times_as_long(*summary.trust) + ", " +
            correlation_of(*summary.trust);
    jobs = std::max(jobs, summary.trust->jobs);
    if (own == nullptr && summary.own) own = &summary;
  }
  if (text.empty()) return "";
  text = "Beside what really happened to " + amount(jobs, "job") + ": " + text + ".";
  if (own != nullptr) return text + believed(*own);
  // A service's own history tells its dispatches, and its policy may well be among these.
  if (std::ranges::any_of(summaries, [](const Summary& s) { return s.recorded && s.counts_dispatches; })) return text;
  return text +
         " None of these is known to be what the site has now, so this tells how far they are from it, and not how "
         "good the rehearsal is.";
}

}  // namespace rota::report
