// An accelerator container (Li 2016): takes tasks of clients over TCP and Unix sockets and computes them on its devices
// in a pipeline of three threads, reader, compute and writer, with a bounded queue between each two. Its memory never
// exceeds its limit, whatever clients do, and no client holds up another one for longer than a task of it computes.
// accel/wire.h has the frames. One thread owns it, which may be any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "accel/backend.h"
#include "accel/pipeline.h"
#include "base/result.h"

namespace rota::accel {

class Container {
 public:
  // Listens from now on, at each of these addresses (accel/address.h), and is the only user of the devices. On TCP
  // addresses that are not of this computer clients must have a token (options.token). Fails with a sentence.
  static Result<std::unique_ptr<Container>> start(const ContainerOptions& options,
                                                  std::vector<std::unique_ptr<Device>> devices,
                                                  const std::vector<std::string>& addresses);
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;
  ~Container();  // at once: clients lose their connections, a task that computes is asked to stop and waited for

  // Where it listens, with the ports that it was given.
  const std::vector<std::string>& addresses() const;
  // Accepts no more tasks; those that it has granted memory to end as usual. Then drained_file() becomes readable.
  void drain();
  int drained_file() const;

  std::uint64_t memory_used() const;  // bytes, by tasks
  const Counts& counts() const;

 private:
  struct Threads;
  explicit Container(std::unique_ptr<Threads> threads);
  std::unique_ptr<Threads> threads_;
};

}  // namespace rota::accel
