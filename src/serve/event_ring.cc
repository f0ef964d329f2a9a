#include "serve/event_ring.h"

#include <type_traits>

#include "model/fact_fields.h"
#include "store/fact_json.h"

namespace rota::serve {
namespace {

// The number of the job that a fact is about; 0: it is about none.
template <class Kind>
std::int64_t number_in(const View& before, const Kind& what) {
  if constexpr (requires { what.spec.number; }) return what.spec.number;
  if constexpr (requires { what.job; }) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(what.job)>, JobId>) {
      const Job* const job = what.job.valid() ? before.find_job(what.job) : nullptr;
      return job != nullptr ? job->spec.number : 0;
    }
  }
  return 0;
}

}  // namespace

void EventRing::fact_recorded(const View& before, const FactRef& fact) {
  if (!wanted_) return;
  std::visit(
      [&]<class Kind>(const Kind* what) {
        add({fact.sequence, std::string(Fields<Kind>::name), store::fact_line(fact), number_in(before, *what)});
      },
      fact.what);
}

}  // namespace rota::serve
