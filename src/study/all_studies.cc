#include "study/auction_study.h"
#include "study/binding_study.h"
#include "study/grace_study.h"
#include "study/migration_study.h"
#include "study/power_study.h"

namespace rota::study {

std::vector<Study> all_studies() {
  return {
      auction_study(), binding_study(), grace_study(), migration_study(), power_study(),
  };
}

}  // namespace rota::study
