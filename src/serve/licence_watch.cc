#include "serve/licence_watch.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "base/text.h"

namespace rota::serve {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (line.empty()) return words;
    words.push_back(line.substr(0, line.find_first_of(kBlanks)));
    line.remove_prefix(words.back().size());
  }
}

std::optional<LicenceId> licence_named(std::string_view name, const Machine& machine) {
  const auto found = std::ranges::find(machine.licences, name, &Licence::name);
  if (found == machine.licences.end()) return std::nullopt;
  return LicenceId{static_cast<std::uint32_t>(found - machine.licences.begin())};
}

// The numbers behind a name; nothing where they make no sense.
std::optional<LicenceCount> counts_of(LicenceId licence, const std::vector<std::string_view>& words) {
  if (words.size() != 3 && words.size() != 4) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const std::string_view word : std::span(words).subspan(1)) {
    const auto number = parse_integer(word);
    if (!number || *number < 0 || *number > INT32_MAX) return std::nullopt;
    numbers.push_back(*number);
  }
  LicenceCount count{licence, numbers[0], numbers[1], {}};
  if (numbers.size() == 3) count.by_jobs = numbers[2];
  if (count.by_jobs > count.used) return std::nullopt;
  return count;
}

std::string names_of(const Machine& machine) {
  std::string names;
  for (const Licence& licence : machine.licences) names += (names.empty() ? "" : ",") + licence.name;
  return names;
}

}  // namespace

Result<std::vector<LicenceCount>> parse_licence_counts(std::string_view text, const Machine& machine) {
  std::vector<LicenceCount> counts;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = words_of(line);
    const auto licence = words.empty() ? std::nullopt : licence_named(words.front(), machine);
    if (!licence) continue;
    const auto count = counts_of(*licence, words);
    if (!count)
      return fail("it says {}, which is not NAME TOTAL USED or NAME TOTAL USED BY_JOBS in whole numbers",
                  rota::quoted(trimmed(line)));
    if (std::ranges::find(counts, *licence, &LicenceCount::licence) != counts.end())
      return fail("it tells of the licence {} twice", words.front());
    counts.push_back(*count);
  }
  for (std::uint32_t l = 0; l < machine.licences.size(); ++l) {
    if (std::ranges::find(counts, LicenceId{l}, &LicenceCount::licence) == counts.end())
      return fail("it says nothing of the licence " + machine.licences[l].name);
  }
  return counts;
}

std::int64_t used_elsewhere(const LicenceCount& counted, std::int64_t count, std::int64_t held) {
  const std::int64_t ours = counted.by_jobs.value_or(std::min(counted.used, held));
  return std::max<std::int64_t>(0, count - counted.total + counted.used - ours);
}

LicenceWatch::LicenceWatch(boost::asio::io_context& io, Options options, std::shared_ptr<const Machine> machine,
                           Take take)
    : io_(io), options_(std::move(options)), machine_(std::move(machine)), take_(std::move(take)), timer_(io) {
  process::SiteCommand::end_left_over(options_.record);
  ask();
}

void LicenceWatch::stop() {
  timer_.cancel();
  command_.reset();
}

void LicenceWatch::ask() {
  command_ = std::make_unique<process::SiteCommand>(
      io_,
      process::SiteCommand::Options{.text = options_.command,
                                    .variables = {"ROTA_LICENCES=" + names_of(*machine_)},
                                    .timeout = options_.timeout,
                                    .most_output = std::size_t{1} << 20U,  // a server with many licences says much
                                    .record = options_.record},
      [this](const process::SiteCommand::End& end) { heard(end); });
}

void LicenceWatch::heard(const process::SiteCommand::End& end) {
  const auto counts = end.done ? parse_licence_counts(end.output, *machine_) : fail(end.why);
  failures_ = counts ? 0 : failures_ + 1;
  failure_ = counts ? std::string() : counts.error().message;
  if (counts) take_(*counts);
  timer_.expires_after(std::chrono::milliseconds(options_.interval.count()));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) ask();
  });
}

}  // namespace rota::serve
