// A command is used again for another: what the first one said must not be said by the second.
#include <gtest/gtest.h>

#include <tuple>
#include <utility>

#include "control/ports.h"

namespace rota {
namespace {

// All that a command says, but for what it is about, which is always said anew when a command is used again. A field
// that is added to Command or to Placement does not compile here until it is named; name it in the test too.
auto values_of(const Command& command) {
  const auto& [kind, epoch, key, job, dispatch, expected_end, start, limit_end, how, beneficiary, node, where,
               cpu_factor, kept, for_good, pause, stands, limit] = command;
  const auto& [shares, per_node, licence, licences, more_licences] = where;
  return std::tuple(dispatch, expected_end, start, limit_end, how, beneficiary, node, shares.size(), per_node, licence,
                    licences, more_licences.size(), cpu_factor, kept, for_good, pause, stands, limit);
}
using Values = decltype(values_of(Command{}));

template <std::size_t... I>
int alike(const Values& a, const Values& b, std::index_sequence<I...> /*all*/) {
  return (0 + ... + (std::get<I>(a) == std::get<I>(b) ? 1 : 0));
}

TEST(Command, ThatIsForgottenSaysNothingMore) {
  Command used;
  used.dispatch = 1;
  used.start = used.expected_end = used.limit_end = at_seconds(1);
  used.how = Preemption::suspend;
  used.beneficiary = JobId{1};
  used.node = NodeId{1};
  used.where = {{{NodeId{1}, 1}}, {1, 1}, LicenceId{1}, 1, {{LicenceId{2}, 1}}};
  used.cpu_factor = 2000;
  used.kept = false;
  used.for_good = true;
  used.pause = seconds(1);
  used.stands = true;
  used.limit = seconds(1);
  const Values fresh = values_of(Command{});
  EXPECT_EQ(alike(values_of(used), fresh, std::make_index_sequence<std::tuple_size_v<Values>>()), 0)
      << "a field is not set above, so that nothing shows whether it is forgotten";
  used.forget();
  EXPECT_EQ(values_of(used), fresh);
  EXPECT_GE(used.where.shares.capacity(), 1U);
}

}  // namespace
}  // namespace rota
