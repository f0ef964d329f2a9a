#include "engine/slurm/reader.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace rota::slurm {
namespace {

constexpr Duration kPatience = seconds(120);
constexpr std::size_t kMostOutput = 256U << 20U;
constexpr std::size_t kCertainlyWhole = 200U << 20U;

// What users and sites may have set for their own reading; and times in UTC.
constexpr const char* kPlainly =
    "unset SQUEUE_ACCOUNT SQUEUE_ALL SQUEUE_ARRAY SQUEUE_NAMES SQUEUE_FEDERATION SQUEUE_FORMAT SQUEUE_FORMAT2 "
    "SQUEUE_LICENSES SQUEUE_LOCAL SQUEUE_PARTITION SQUEUE_PRIORITY SQUEUE_QOS SQUEUE_SIBLING SQUEUE_SORT SQUEUE_STATES "
    "SQUEUE_USERS SACCT_FEDERATION SACCT_FORMAT SACCT_LOCAL SCONTROL_ALL SLURM_CLUSTERS SLURM_BITSTR_LEN "
    "SLURM_TIME_FORMAT; ";

}  // namespace

std::string plainly(const std::string& command) {
  return kPlainly + ("{ why=$(" + command + " 2>&1 >&3); } 3>&1 || { code=$?; printf '%s\\n' \"$why\"; exit $code; }");
}

void Reader::ask(const std::string& command, Call call) {
  text_ = command;
  call_ = std::move(call);
  loop_.set(*this, std::max(loop_.now(), next_));
}

void Reader::ring() {
  next_ = loop_.now() + gap_;
  ++calls_;
  command_ = std::make_unique<process::SiteCommand>(io_,
                                                    process::SiteCommand::Options{.text = plainly(text_),
                                                                                  .variables = {"TZ=UTC", "LC_ALL=C"},
                                                                                  .timeout = kPatience,
                                                                                  .most_output = kMostOutput},
                                                    [this](const process::SiteCommand::End& end) { ended(end); });
}

void Reader::ended(const process::SiteCommand::End& end) {
  const Call call = std::move(call_);
  const std::string name = text_.substr(0, text_.find(' '));
  if (!end.done) return call(fail("`{}` {}.", name, end.why));
  if (end.output.size() > kCertainlyWhole) return call(fail("`{}` printed more than Rota can take.", name));
  call(end.output);
}

std::string drawn_mark() {
  constexpr std::string_view kLetters = "abcdefghijkmnopqrstuvwxyz0123456";
  std::array<unsigned char, 6> drawn{};
  std::string mark = "~";
  if (::getrandom(drawn.data(), drawn.size(), 0) < 0) return mark;
  for (const unsigned char each : drawn) mark += kLetters[each % kLetters.size()];
  return mark + "~";
}

}  // namespace rota::slurm
