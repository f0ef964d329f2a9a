#include "report/reserved.h"

#include <fmt/core.h>

#include "base/text.h"
#include "report/readable.h"

namespace rota::report {
namespace {

constexpr std::size_t kMostListed = 20;

std::string what_is_reserved(const Reservation& reservation, const Machine& machine) {
  if (reservation.nodes.empty()) return amount(reservation.processors, "processor");
  std::int64_t processors = 0;
  for (const NodeId node : reservation.nodes) processors += machine.nodes[node.value].processors;
  std::string text = one_line(machine.nodes[reservation.nodes.front().value].name);
  if (reservation.nodes.size() > 1) text += " to " + one_line(machine.nodes[reservation.nodes.back().value].name);
  return fmt::format("{} ({}, {})", text, amount(static_cast<std::int64_t>(reservation.nodes.size()), "node"),
                     amount(processors, "processor"));
}

}  // namespace

std::vector<std::string> reservations_of(const Machine& machine, std::int64_t unix_start) {
  std::vector<std::string> all;
  for (const Reservation& reservation : machine.reservations) {
    all.push_back(
        fmt::format("{} from {} to {}", what_is_reserved(reservation, machine), readable(reservation.from, unix_start),
                    reservation.until == kNever ? std::string("the end") : readable(reservation.until, unix_start)));
  }
  for (const Machine& site : machine.sites) {
    for (std::string& text : reservations_of(site, unix_start))
      all.push_back(fmt::format("{}: {}", one_line(site.name), text));
  }
  return all;
}

std::string reserved_text(const std::vector<std::string>& reserved) {
  if (reserved.empty()) return "";
  std::string text = "Reserved, so that no job is given it: ";
  for (std::size_t i = 0; i < reserved.size() && i < kMostListed; ++i) text += (i == 0 ? "" : "; ") + reserved[i];
  if (reserved.size() > kMostListed)
    text += fmt::format("; and {} more", grouped(static_cast<std::int64_t>(reserved.size() - kMostListed)));
  return text + ".";
}

}  // namespace rota::report
