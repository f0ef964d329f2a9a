#include "process/descriptor.h"

#include <gtest/gtest.h>

#include <poll.h>

#include <string>
#include <thread>
#include <vector>

namespace rota::process {
namespace {

// A listener at which so many connections wait that no other can connect.
class Crowded {
 public:
  Crowded() : name_(unguessable_name()), listener_(listen_at(name_)) {
    constexpr int kMoreThanWait = 17;  // listen_at() lets 16 wait, and the kernel one more
    for (int one = 0; one < kMoreThanWait; ++one) waiting_.push_back(try_to_connect(name_).socket);
  }
  const std::string& name() const { return name_; }
  bool refuses() const { return try_to_connect(name_).crowded; }
  void take_all() const {
    while (accept_from(listener_.get())) {
    }
  }

 private:
  std::string name_;
  Descriptor listener_;
  std::vector<Descriptor> waiting_;
};

TEST(Descriptors, a_crowded_listener_holds_up_no_other) {
  Crowded crowded;
  ASSERT_TRUE(crowded.refuses());
  const std::string name = unguessable_name();
  const Descriptor listener = listen_at(name);
  const std::jthread makes_room([&] {  // once the other one has been connected to
    pollfd connection{listener.get(), POLLIN, 0};
    if (::poll(&connection, 1, 60'000) > 0) crowded.take_all();
  });
  const std::vector<std::string> names{crowded.name(), unguessable_name(), name};
  const std::vector<Descriptor> sockets = connect_to_all(names);
  ASSERT_EQ(sockets.size(), 3U);
  EXPECT_TRUE(sockets[0]) << "it was tried again";
  EXPECT_FALSE(sockets[1]) << "nobody listens there";
  EXPECT_TRUE(sockets[2]);
}

}  // namespace
}  // namespace rota::process
