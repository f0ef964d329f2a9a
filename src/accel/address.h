// Where a container listens: "HOST:PORT", "[V6]:PORT", or a path with a '/', of a Unix socket. Or which one is meant:
// "NODE@/PATH", that of the node, as the service at this socket says at the time; "late:NODE@/PATH": all of the node's
// rack, each for the tasks that it will have done first; "slot:JOB.N:NODE@/PATH": that of a job's slot N on the node.
// Any thread.
#pragma once

#include <string>
#include <variant>

#include "process/descriptor.h"

namespace rota::accel {

struct TcpAddress {
  std::string host;
  std::string port;
};
struct UnixAddress {
  std::string path;
};
struct NodeAddress {  // for clients; accel/client/bound_container.h asks
  std::string node;
  std::string service;
  bool late = false;
  std::string slot = {};  // "JOB.N"; empty: all of the node
};
struct NoAddress {
  std::string why;  // a sentence without its end
};
using Address = std::variant<NoAddress, TcpAddress, UnixAddress, NodeAddress>;

Address parse_address(const std::string& text);
bool is_loopback(const TcpAddress& address);  // by its text: localhost, 127.x, ::1

// A socket that does not wait, connected or about to be (poll for writing, then look at SO_ERROR); none: `why` says
// what the system says.
process::Descriptor begin_connecting(const Address& address, std::string& why);
// A socket that listens. Of a Unix socket that no process listens at any more the file is removed first.
process::Descriptor listen_at(const Address& address, std::string& why);
int port_of(int socket);  // that a TCP socket has; port 0 listens at any free one

}  // namespace rota::accel
