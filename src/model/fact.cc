#include "model/fact.h"

namespace rota {

AnyFact::AnyFact() = default;
AnyFact::AnyFact(const AnyFact& other) = default;
AnyFact::AnyFact(AnyFact&& other) noexcept = default;
AnyFact& AnyFact::operator=(const AnyFact& other) = default;
AnyFact& AnyFact::operator=(AnyFact&& other) noexcept = default;
AnyFact::~AnyFact() = default;

}  // namespace rota
