// A service in the background: `rota serve` apart from the terminal and from all else that its caller has open, with a
// log in its state folder. It outlives the command that starts it, and its user's logging out.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/live/service_address.h"
#include "process/descriptor.h"

namespace rota::cli {

// What `rota serve` is told; paths are absolute.
struct ServeWords {
  std::string state;
  std::string socket;
  std::string configuration;  // empty: none is named
  std::string policy;
  std::string engine = "local";
};

// Where a service keeps its state that is told nothing else: each folder on the way is made. Fails with a sentence.
Result<std::string> default_state();

std::string log_of(const std::string& state);
// No state is there yet: it is the first service in this folder.
bool is_new(const std::string& state);
// A path as people write it: what is below the home folder begins with ~.
std::string short_path(const std::string& path);

// Returns once the service answers, or fails with the sentence with which it ended. Blocks as long as another one is
// just being started with this state; false: by then a service answers at the socket, and none was started.
Result<bool> start_in_background(const ServeWords& words);

// For `rota submit` and `rota run`: where nothing is named and nothing answers, starts this user's own service and says
// so on standard error. Fails with a sentence where one could not be started, or is not for this command to start.
Result<void> have_service(const AddressFlags& flags);

// In the service itself: the command that started it in the background, if one did, and waits until it answers.
class Starter {
 public:
  Starter();
  bool any() const { return any_; }  // then standard error is log_of(the state)
  void tell_ready();
  void tell_failure(const std::string& sentence);

 private:
  void tell(const std::string& text);
  bool any_ = false;
  process::Descriptor socket_;  // once it is told: closed
};

// Keeps the log that standard error is small: beyond 1 MiB it becomes service.log.1, in place of the one before.
void bound_log(const std::string& log);

}  // namespace rota::cli
