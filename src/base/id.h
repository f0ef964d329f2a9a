// Dense typed ids: an index that cannot be passed where another kind of index is meant.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace rota {

template <class Tag, class Value = std::uint32_t>
struct Id {
  static constexpr Value kNone = std::numeric_limits<Value>::max();

  Value value = kNone;
  constexpr auto operator<=>(const Id&) const = default;
  constexpr bool valid() const { return value != kNone; }
};

using JobId = Id<struct JobTag>;              // index into the cluster's job table, in order of submission
using NodeId = Id<struct NodeTag>;            // index into the cluster description's nodes
using PartitionId = Id<struct PartitionTag>;  // index into the cluster description's partitions
using RackId = Id<struct RackTag>;            // index into the cluster description's racks
using LicenceId = Id<struct LicenceTag>;      // index into the cluster description's licences
using AcceleratorTypeId = Id<struct AcceleratorTypeTag, std::uint8_t>;  // index into the description's types of them
using QosId = Id<struct QosTag, std::uint8_t>;                          // index into the description's QOS
using ReservationId = Id<struct ReservationTag>;  // order in which reservations were made, from 0 on
using SiteId = Id<struct SiteTag>;                // index into the sites of a federation

}  // namespace rota
