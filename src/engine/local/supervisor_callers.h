// The services that are connected to a supervisor: mostly one, and while the service starts anew two.
#pragma once

#include <poll.h>

#include <cstddef>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "engine/local/record.h"
#include "process/descriptor.h"

namespace rota::local {

struct Connection {
  process::Descriptor socket;
  std::string text;  // read so far
};

class Callers {
 public:
  using Hear = std::function<void(const Tell&, const Connection& from)>;

  Callers(process::Descriptor listener, Connection born_with, Hear hear);

  void read_first() { hear_lines(connections_.front()); }  // what came behind the order
  // Adds what is to be watched for reading; once it was, reads: `watched` begins with what was added.
  void watch(std::vector<pollfd>& watched) const;
  void read(const pollfd* watched);
  void take_new();
  void tell(const RunRecord& record) const;
  bool is_one() const { return connections_.size() == 1; }
  Connection leave() { return std::move(connections_.front()); }
  void close();                         // before a child executes another program
  void wait_for_new(int milliseconds);  // all that were there are left

 private:
  void hear_lines(Connection& connection);

  process::Descriptor listener_;
  std::list<Connection> connections_;
  Hear hear_;
};

}  // namespace rota::local
