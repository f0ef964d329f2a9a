// A container as the service knows it: registered under the name of its node, with signs of life from then on, until it
// leaves. The state in each sign is asked for as any client asks, so that none is given by a container that stands
// still.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/time.h"
#include "cli/live/service.h"
#include "process/descriptor.h"

namespace rota::cli {

class AccelRegistration {
 public:
  struct Options {
    std::string node;
    std::int64_t device = 0;  // which of the node's containers it is
    std::string address;      // where clients reach the container
    std::string asked_at;     // and where this process does
    std::string token;        // empty: it asks for none
    std::int64_t weight = 0;  // 0: measured
    Duration period{0};
  };

  // Measures and registers, and gives signs of life on a thread of its own. Fails with the sentence of a service that
  // refuses; one that does not answer is reported, and asked again with each sign.
  static Result<std::unique_ptr<AccelRegistration>> begin(Options options, Result<ServiceAddress> service);
  AccelRegistration(const AccelRegistration&) = delete;
  AccelRegistration& operator=(const AccelRegistration&) = delete;
  ~AccelRegistration();  // leaves; waits for a service that does not answer, but not for long

  void leave();  // begins to: the service binds its nodes anew
  // Becomes readable once another container has registered for the node.
  int replaced_file() const { return replaced_.get(); }

 private:
  struct Beat {
    bool refused = false;
    unsigned status = 0;   // 0: no answer
    std::string sentence;  // empty: it was taken
  };

  AccelRegistration(Options options, Result<ServiceAddress> service);
  void run();
  std::string name() const;  // of the container, for people
  bool leaves_after(Duration pause);
  Beat beat();
  void report(const Beat& beat);

  Options options_;
  ServiceClient client_;
  process::Descriptor replaced_;
  std::string epoch_;    // the container's; empty: it has not said
  std::string trouble_;  // that was reported last
  std::mutex mutex_;
  std::condition_variable changed_;
  bool leaves_ = false;
  std::thread thread_;
};

}  // namespace rota::cli
