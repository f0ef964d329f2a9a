#include "site/cluster_prices.h"

#include <fmt/core.h>

#include <cmath>
#include <optional>

#include "base/text.h"

namespace rota::site {
namespace {

constexpr double kHighestPrice = 1000;
constexpr std::int64_t kHour = 60;  // minutes, as is:
constexpr std::int64_t kWidestZone = 14 * kHour;

std::optional<std::int64_t> two_digits(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() != 2 || !digit(text[0]) || !digit(text[1])) return std::nullopt;
  return (text[0] - '0') * 10 + (text[1] - '0');
}

// "HH:MM" in minutes.
std::optional<std::int64_t> minutes_of(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto hours = two_digits(text.substr(0, 2));
  const auto minutes = two_digits(text.substr(3));
  if (!hours || !minutes || *minutes > 59) return std::nullopt;
  return *hours * kHour + *minutes;
}

std::optional<Tariff::Step> step_of(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const auto minutes = minutes_of(trimmed(text.substr(0, equals)));
  const auto price = parse_number(trimmed(text.substr(equals + 1)));
  if (!minutes || *minutes >= 24 * kHour || !price || !(*price >= 0 && *price <= kHighestPrice)) return std::nullopt;
  return Tariff::Step{seconds(*minutes * 60), std::llround(*price * 1000)};
}

// A table's keys of this kind; `table` names it in messages.
struct TariffKeys {
  const Entry& entry;
  const std::string& prices;
  const std::string& zone;
  const char* table;
};

Result<Tariff> read_tariff(const ClusterDraft& draft, const TariffKeys& keys, Duration zone) {
  const auto wrong = [&](std::uint32_t line, const std::string& what) {
    return fail("{}:{}: {}", draft.shown, line, what);
  };
  const std::uint32_t prices = keys.entry.line_of("electricity_prices");
  const std::uint32_t clock = keys.entry.line_of("electricity_zone");
  const std::string where = keys.table;
  if (prices == 0) {
    if (clock == 0) return Tariff();
    return wrong(
        clock,
        fmt::format(
            "`electricity_zone`{} is the clock of `electricity_prices`, which are not here. Say them, or remove it.",
            where));
  }
  if (const std::uint32_t flat = keys.entry.line_of("electricity_price"); flat != 0) {
    return wrong(prices, fmt::format("`electricity_prices`{} go by the time of day, and line {} has one "
                                     "`electricity_price` for all times. Remove one of the two.",
                                     where, flat));
  }
  auto steps = parse_prices(keys.prices);
  if (!steps) return wrong(prices, fmt::format("`electricity_prices`{} {}", where, steps.error().message));
  if (clock == 0) return Tariff(std::move(*steps), zone);
  const auto own = parse_zone(keys.zone);
  if (!own) return wrong(clock, fmt::format("`electricity_zone`{} {}", where, own.error().message));
  return Tariff(std::move(*steps), *own);
}

}  // namespace

Result<std::vector<Tariff::Step>> parse_prices(std::string_view text) {
  std::vector<Tariff::Step> steps;
  for (const std::string_view piece : split(text, ',')) {
    const auto step = step_of(trimmed(piece));
    if (!step) {
      return fail(R"(takes times of the day from 00:00 to 23:59, each with a price from 0 to 1000, such as )"
                  R"("00:00=0.18, 07:00=0.31, 21:00=0.18", not )" +
                  quoted(piece) + ".");
    }
    if (!steps.empty() && step->from <= steps.back().from) {
      return fail("takes times of the day one after the other, and {} is not after the one before it.",
                  quoted(trimmed(piece)));
    }
    steps.push_back(*step);
  }
  return steps;
}

Result<Duration> parse_zone(std::string_view text) {
  const bool sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  const auto minutes = sign ? minutes_of(text.substr(1)) : std::nullopt;
  if (!minutes || *minutes > kWidestZone) {
    return fail(R"(takes what its clock is ahead of UTC, from "-14:00" to "+14:00", such as "+01:00", not )" +
                quoted(text) + ".");
  }
  return seconds((text[0] == '-' ? -60 : 60) * *minutes);
}

Result<Tariff> tariff_of(const ClusterDraft& draft, const TopEntry& entry) {
  return read_tariff(draft, {entry, entry.prices, entry.zone, ""}, Duration{0});
}

Result<Tariff> tariff_of(const ClusterDraft& draft, const SiteEntry& entry, const Tariff& inherited) {
  auto own = read_tariff(draft, {entry, entry.prices, entry.zone, " in [[sites]]"}, inherited.zone());
  if (!own || own->has_steps() || entry.price >= 0) return own;
  return inherited;
}

}  // namespace rota::site
