#include "cli/import/import_touched.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"
#include "model/accounts_below.h"

namespace rota::cli {
namespace {

using Names = std::map<std::uint32_t, std::string>;

struct Kind {
  const char* words;  // that stand in what is left out
  log::SwfField field;
  Names log::AccountedLog::* names;
};
constexpr std::array<Kind, 4> kKinds{{{" of QOS", log::SwfField::queue, &log::AccountedLog::queues},
                                      {" of accounts", log::SwfField::group, &log::AccountedLog::groups},
                                      {" of users", log::SwfField::user, &log::AccountedLog::users},
                                      {" of partitions", log::SwfField::partition, &log::AccountedLog::partitions}}};

std::int64_t jobs_of(const std::set<std::string>& wanted, const Kind& kind, const log::SacctLog& log) {
  std::set<std::int64_t> numbers;
  for (const auto& [number, name] : log.*kind.names)
    if (wanted.contains(name)) numbers.insert(number);
  return std::ranges::count_if(log.rows, [&](const log::SwfRow& row) { return numbers.contains(row[kind.field]); });
}

}  // namespace

std::map<std::string, std::int64_t> touched_jobs(const site::SlurmCluster& cluster, const log::SacctLog& log) {
  std::map<std::string, std::int64_t> touched;
  for (const auto& [what, names] : cluster.left_out_of) {
    const auto kind = std::ranges::find_if(kKinds, [&](const Kind& k) { return what.ends_with(k.words); });
    if (kind == kKinds.end()) continue;
    std::set<std::string> wanted(names.begin(), names.end());
    if (kind->field == log::SwfField::group) wanted = with_accounts_below(std::move(wanted), cluster.machine.accounts);
    touched[what] = jobs_of(wanted, *kind, log);
  }
  return touched;
}

void tell_touched(const std::map<std::string, std::int64_t>& touched, std::vector<std::string>& sentences) {
  for (std::string& sentence : sentences) {
    const auto found = std::ranges::find_if(
        touched, [&](const auto& of) { return sentence == of.first || sentence.starts_with(of.first + " ("); });
    if (found != touched.end()) sentence += fmt::format(": {} of the log", amount(found->second, "job"));
  }
}

}  // namespace rota::cli
