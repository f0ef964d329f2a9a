#include "engine/local/spare_supervisor.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "base/words.h"
#include "engine/local/quarters.h"
#include "engine/local/supervisor_process.h"
#include "process/descriptor.h"

namespace rota::local {

using process::Descriptor;
using process::read_more;
using process::take_line;

namespace {

// What comes before it was meant for the run that is over. False: the service is gone, has no more for this one, or
// asks how that run is: it has not heard the end, and finds it in the record once the connection is closed.
bool next_order(Connection& from, Order& order) {
  ::prctl(PR_SET_NAME, "rota-spare", 0, 0, 0);
  std::string line;
  while (true) {
    while (take_line(from.text, line)) {
      if (line.starts_with("kind=hello ")) return false;
      if (!line.starts_with("kind=start ")) continue;
      order = {};
      read_words(line, order);
      return true;
    }
    pollfd more{from.socket.get(), POLLIN, 0};
    ::poll(&more, 1, -1);
    if (!read_more(from.socket.get(), from.text)) return false;
  }
}

}  // namespace

void look_after(int folder, Order order, Claim claim, Descriptor connection) {
  Quarters quarters(folder);
  Connection from{std::move(connection), {}};
  for (std::optional<Claim> next = std::move(claim); next; quarters.lock().leave()) {
    if (!keep_claim(folder, order, *next, from.socket)) break;
    if (!order.replaces.empty()) remove_run(folder, order.replaces);  // one of the two is always there
    {
      SupervisorProcess supervisor(std::move(order), *std::move(next), std::move(from), quarters);
      from = supervisor.run();
    }
    next.reset();
    if (from.socket && next_order(from, order)) next = claim_run(folder, order, from.socket);
  }
  quarters.move_out();
  ::_exit(0);
}

}  // namespace rota::local
