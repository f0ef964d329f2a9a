#include "cli/live/submit_value.h"

#include <fmt/core.h>

#include "base/text.h"

namespace rota::cli {

std::unexpected<Error> wrong_value(const SubmitValue& value, const std::string& wanted) {
  return fail("{} takes {}, not {}.", value.where, wanted, rota::quoted(value.text));
}

Result<std::int64_t> counted(const SubmitValue& value, std::int64_t least) {
  const auto number = parse_integer(value.text);
  if (!number || *number < least || *number > kMostCounted)
    return wrong_value(value, fmt::format("a whole number from {} to {}", least, grouped(kMostCounted)));
  return *number;
}

std::unexpected<Error> too_many_processors() {
  return fail("A job asks for {} processors at most; ask for fewer.", grouped(kMostCounted));
}

Result<std::int64_t> size_of(const SubmitValue& value) {
  const bool bare = only_digits(value.text);
  if (bare && value.dialect == Dialect::rota) return wrong_value(value, "a size with its unit, such as 500M or 4G");
  const auto bytes = parse_size(value.text + (bare && value.dialect == Dialect::slurm ? "M" : ""));
  if (!bytes || *bytes <= 0) return wrong_value(value, "a size such as 500M or 4G");
  return *bytes;
}

Result<double> limit_seconds(std::string_view text, Dialect dialect) {
  const bool minutes = dialect == Dialect::slurm && only_digits(text);
  if (dialect == Dialect::slurm && text == "-1") return to_seconds(kLongest);  // as Slurm has it
  if (dialect == Dialect::slurm && !minutes && text.find_first_not_of("0123456789.") == std::string_view::npos)
    return fail(rota::quoted(text) + " is no number of whole minutes; write 90, 1:30:00 or 1.5h.");
  const auto limit = TRY(parse_duration(std::string(text) + (minutes ? "m" : "")));
  if (limit.count() > 0) return to_seconds(limit);
  if (dialect == Dialect::slurm) return to_seconds(kLongest);  // as Slurm has it
  return fail("a limit of 0 would end the job at once; write `unlimited` for no limit.");
}

}  // namespace rota::cli
