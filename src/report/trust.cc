#include "report/trust.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "report/metrics.h"
#include "report/readable.h"

namespace rota::report {
namespace {

constexpr double kClose = 0.05;
constexpr double kRough = 0.10;
constexpr double kLittle = 1;          // seconds, and
constexpr double kLittleOfRun = 0.01;  // share of the mean run time, below which a mean wait is none to speak of
constexpr double kNoTimes = 0.005;     // what would be told as 0.00 times
constexpr double kRounding = 1e-9;
constexpr double kCloseCorrelation = 0.9;
constexpr double kRoughCorrelation = 0.8;
constexpr std::size_t kMostLeftOut = 12;  // are listed

std::string times_as_long(const Trust& trust) {
  const auto ratio = trust.ratio();
  if (!ratio) return fmt::format("waits {} where no job really waited", readable_seconds(trust.mean));
  if (trust.hardly_waits() || *ratio < kNoTimes)
    return fmt::format("waits {} where {} was recorded", readable_seconds(trust.mean),
                       readable_seconds(trust.recorded));
  return fmt::format("has {} times the recorded mean wait", readable_number(*ratio, 2));
}

std::string correlation_of(const Trust& trust) {
  if (trust.hardly_waits()) return "";
  return trust.correlation ? ", correlation " + readable_number(*trust.correlation, 2)
                           : ", no correlation (waits are all alike)";
}

std::string too_little(const Trust& trust) {
  if (!trust.hardly_waits()) return "there is too little waiting to compare: it takes jobs whose waits differ.";
  return "both are alike: hardly any job waited. For more than that there is too little waiting to compare.";
}

std::string believed(const Summary& own) {
  const Trust& trust = *own.trust;
  const std::string what = fmt::format(" {} rehearses what the site has now, and ", own.name());
  switch (likeness(trust)) {
    case Likeness::close:
      return what +
             "comes within 5 % of the recorded mean wait with a correlation of at least 0.9: differences between the "
             "rows that are clearly larger than that can be trusted.";
    case Likeness::rough:
      return what +
             "comes within 10 % of the recorded mean wait with a correlation of at least 0.8, and no closer: figures "
             "are "
             "not to be trusted, only the order of policies that are far apart.";
    case Likeness::unknown:
      return what + too_little(trust);
    case Likeness::poor:
      break;
  }
  return what + "does not meet what really happened. Compare the rehearsed rows with each other only.";
}

}  // namespace

bool Trust::hardly_waits() const {
  const double least = std::max(kLittle, kLittleOfRun * run);
  return mean < least && recorded < least;
}

void WaitsBeside::add(Duration rehearsed, Duration recorded, Duration run) {
  const double x = to_seconds(rehearsed);
  const double y = to_seconds(recorded);
  const auto n = static_cast<double>(++jobs_);
  const double from_mean = x - mean_;
  const double from_recorded = y - recorded_;
  mean_ += from_mean / n;
  run_ += (to_seconds(run) - run_) / n;
  recorded_ += from_recorded / n;
  squares_ += from_mean * (x - mean_);
  recorded_squares_ += from_recorded * (y - recorded_);
  products_ += from_mean * (y - recorded_);
}

std::optional<Trust> WaitsBeside::conclude() const {
  if (jobs_ == 0) return std::nullopt;
  Trust trust{jobs_, mean_, recorded_, std::nullopt, run_};
  if (squares_ > 0 && recorded_squares_ > 0)
    trust.correlation = std::clamp(products_ / std::sqrt(squares_ * recorded_squares_), -1.0, 1.0);
  return trust;
}

Likeness likeness(const Trust& trust) {
  if (trust.hardly_waits()) return Likeness::unknown;
  const auto ratio = trust.ratio();
  if (!ratio) return Likeness::poor;
  const double off = std::abs(*ratio - 1);
  if (!trust.correlation) return off <= kClose + kRounding ? Likeness::unknown : Likeness::poor;
  if (off <= kClose + kRounding && *trust.correlation >= kCloseCorrelation) return Likeness::close;
  return off <= kRough + kRounding && *trust.correlation >= kRoughCorrelation ? Likeness::rough : Likeness::poor;
}

const Summary* row_of_site(std::span<const Summary> summaries) {
  const Summary* nearest = nullptr;
  const auto distance = [](const Summary& s) {
    const double off = std::abs(s.trust->ratio().value_or(INFINITY) - 1);
    return std::tuple(likeness(*s.trust), off, std::string_view(s.policy));
  };
  for (const Summary& s : summaries) {
    if (s.own && s.trust && (nearest == nullptr || distance(s) < distance(*nearest))) nearest = &s;
  }
  return nearest;
}

bool cannot_be_trusted(std::span<const Summary> summaries) {
  const Summary* const own = row_of_site(summaries);
  return own != nullptr && likeness(*own->trust) == Likeness::poor;
}

std::vector<std::string> distrust_sentences(std::span<const Summary> summaries) {
  const Summary& own = *row_of_site(summaries);
  const Trust& trust = *own.trust;
  const std::string headline = fmt::format(
      "This rehearsal cannot be trusted, so that no policy is recommended: under {}, which is what the site has now, "
      "jobs wait {} on average where {} was recorded{}. Something that mattered is missing in the log, the cluster "
      "file or the settings of {}.",
      own.name(), readable_seconds(trust.mean), readable_seconds(trust.recorded), correlation_of(trust), own.name());
  if (own.left_out.empty()) {
    return {headline,
            "It is not known that anything was left out when the log was made: look at its limits and processors, at "
            "the nodes "
            "and partitions of the cluster file, and at whose turn it is."};
  }
  std::string text = "Left out or assumed when the log was made: ";
  const std::size_t listed = std::min(own.left_out.size(), kMostLeftOut);
  for (std::size_t i = 0; i < listed; ++i) {
    text += (i == 0 ? "" : "; ") + own.left_out[i];
    if (text.ends_with('.')) text.pop_back();
  }
  if (listed < own.left_out.size()) text += fmt::format("; and {} more", own.left_out.size() - listed);
  return {headline, text + "."};
}

std::string beside_text(std::span<const Summary> summaries) {
  std::string text;
  std::int64_t jobs = 0;
  for (const Summary& summary : summaries) {
    if (summary.recorded || !summary.trust) continue;
    text += fmt::format("{}{} {}{}", text.empty() ? "" : "; ", summary.name(), times_as_long(*summary.trust),
                        correlation_of(*summary.trust));
    jobs = std::max(jobs, summary.trust->jobs);
  }
  return text.empty() ? "" : fmt::format("Beside what really happened to {}: {}.", amount(jobs, "job"), text);
}

std::string trust_text(std::span<const Summary> summaries) {
  const std::string text = beside_text(summaries);
  if (text.empty()) return "";
  if (const Summary* const own = row_of_site(summaries)) return text + believed(*own);
  // A service's own history tells its dispatches, and its policy may well be among these.
  if (std::ranges::any_of(summaries, [](const Summary& s) { return s.recorded && s.counts_dispatches; })) return text;
  return text +
         " None of these is known to be what the site has now, so this tells how far they are from it, and not how "
         "good the rehearsal is.";
}

}  // namespace rota::report
