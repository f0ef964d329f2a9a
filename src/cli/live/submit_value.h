// The text of a value that was asked for, read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/live/submit_options.h"

namespace rota::cli {

inline constexpr std::int64_t kMostCounted = 1'000'000'000;  // of anything that is counted

// "--mem takes `wanted`, not "lots"."
std::unexpected<Error> wrong_value(const SubmitValue& value, const std::string& wanted);

Result<std::int64_t> counted(const SubmitValue& value, std::int64_t least = 1);

std::unexpected<Error> too_many_processors();

// Bytes. On Rota's own command line a size says its unit: people who come from Slurm would mean megabytes.
Result<std::int64_t> size_of(const SubmitValue& value);

// A time limit in seconds: in Slurm's dialect a bare number counts minutes, and 0 stands for none.
Result<double> limit_seconds(std::string_view text, Dialect dialect);

}  // namespace rota::cli
