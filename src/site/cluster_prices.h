// What a cluster file says of the price of electricity: one for all times, or steps of the day.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/tariff.h"
#include "site/cluster_build.h"

namespace rota::site {

// "07:00=0.31, 21:00=0.18": ascending times of the day, to the minute, each with a price from 0 to 1000 to three
// decimals.
Result<std::vector<Tariff::Step>> parse_prices(std::string_view text);

// "+01:00": from -14:00 to +14:00.
Result<Duration> parse_zone(std::string_view text);

// The tariff of the top, or of one of its sites (`inherited` is the top's then). Fails with "FILE:LINE: ..."
Result<Tariff> tariff_of(const ClusterDraft& draft, const TopEntry& entry);
Result<Tariff> tariff_of(const ClusterDraft& draft, const SiteEntry& entry, const Tariff& inherited);

}  // namespace rota::site
