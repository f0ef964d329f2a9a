#include "accel/container.h"

#include <pthread.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "accel/address.h"
#include "accel/computer.h"
#include "accel/reader.h"
#include "accel/writer.h"
#include "base/file.h"
#include "base/text.h"

namespace rota::accel {
namespace {

Result<Listener> listener_at(const std::string& text, const ContainerOptions& options) {
  const Address address = parse_address(text);
  const auto* tcp = std::get_if<TcpAddress>(&address);
  if (tcp != nullptr && !is_loopback(*tcp) && options.token.empty())
    return fail("{} can be reached from other computers: give a token with --token-file, or listen at 127.0.0.1.",
                text);
  std::string why;
  Listener listener{listen_at(address, why), tcp != nullptr};
  if (!listener.socket) return fail("the container cannot listen at {}: {}.", shown_path(text), why);
  return listener;
}

std::string with_port(const std::string& text, const Listener& listener) {
  return listener.tcp ? text.substr(0, text.rfind(':') + 1) + std::to_string(port_of(listener.socket.get())) : text;
}

}  // namespace

struct Container::Threads {
  Threads(const ContainerOptions& options, std::vector<std::unique_ptr<Device>> devices,
          std::vector<Listener> listeners)
      : pipeline(options, std::move(devices)),
        reads(pipeline, std::move(listeners)),
        computes(pipeline),
        writes(pipeline) {
    begin(reader, "accel-read", reads);
    begin(computer, "accel-compute", computes);
    begin(writer, "accel-write", writes);
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() {
    pipeline.stops = true;
    for (const auto& device : pipeline.devices) device->stop();
    // Both queues, else the compute thread could wait for a writer that has ended.
    pipeline.ready.close();
    pipeline.computed.close();
    pipeline.reader.ring();
    pipeline.writer.ring();
    for (std::thread* thread : {&reader, &computer, &writer}) thread->join();
  }

  template <class Work>
  static void begin(std::thread& thread, const char* name, Work& work) {
    thread = std::thread([&work] { work.run(); });
    ::pthread_setname_np(thread.native_handle(), name);
  }

  Pipeline pipeline;
  Reader reads;
  Computer computes;
  Writer writes;
  std::thread reader;
  std::thread computer;
  std::thread writer;
  std::vector<std::string> addresses;
};

Result<std::unique_ptr<Container>> Container::start(const ContainerOptions& options,
                                                    std::vector<std::unique_ptr<Device>> devices,
                                                    const std::vector<std::string>& addresses) {
  std::vector<Listener> listeners;
  std::vector<std::string> shown;
  for (const std::string& address : addresses) {
    auto listener = TRY(listener_at(address, options));
    shown.push_back(with_port(address, listener));
    listeners.push_back(std::move(listener));
  }
  auto threads = std::make_unique<Threads>(options, std::move(devices), std::move(listeners));
  if (threads->pipeline.memory.shared().bytes.empty())
    return fail("the system gives the container no {} of shared memory; give --memory a smaller size.",
                format_size(static_cast<std::int64_t>(options.memory)));
  threads->addresses = std::move(shown);
  return std::unique_ptr<Container>(new Container(std::move(threads)));
}

Container::Container(std::unique_ptr<Threads> threads) : threads_(std::move(threads)) {}

Container::~Container() {
  for (const std::string& address : threads_->addresses)
    if (address.find('/') != std::string::npos) ::unlink(address.c_str());
}

const std::vector<std::string>& Container::addresses() const { return threads_->addresses; }

void Container::drain() {
  threads_->pipeline.draining = true;
  threads_->pipeline.reader.ring();
}

int Container::drained_file() const { return threads_->pipeline.drained.file(); }
std::uint64_t Container::memory_used() const { return threads_->pipeline.memory.used(); }
const Counts& Container::counts() const { return threads_->pipeline.counts; }

}  // namespace rota::accel
