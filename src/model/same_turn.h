// Whether two waiting jobs are alike to an order, but for their arrival: they have the same priority and score. Pure.
#pragma once

#include "model/waiting.h"

namespace rota {

constexpr bool same_turn(const WaitingEntry::Key& a, const WaitingEntry::Key& b) {
  return a.high == b.high && a.low >> 32U == b.low >> 32U;  // what is left is the sequence
}

}  // namespace rota
