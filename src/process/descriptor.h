// A file descriptor that closes itself, and the few things that are done with bare ones.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rota::process {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Descriptor() { reset(); }

  explicit operator bool() const { return number_ >= 0; }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  void reset(int number = -1) {
    if (number_ >= 0) ::close(number_);
    number_ = number;
  }

 private:
  int number_ = -1;
};

// All that can be read until the end, or until nothing more is there yet.
std::string read_all(int file);
std::string contents_of(const std::string& path);  // the same of a file that is opened for it; empty: it cannot be

// Adds what can be read without waiting. False at the end, or if it is broken.
bool read_more(int file, std::string& text);

// Adds one piece at most, of at most 16 KiB: a writer that never stops does not keep the reader busy. True: perhaps
// there is more.
bool read_piece(int file, std::string& text);

// Longer than any line that is told: a sender of more without an end of line is hung up on.
inline constexpr std::size_t kLongestTold = 65536;

// Adds a line with one write, so that it is there or not. Errno, or 0.
int add_line(int file, std::string_view line);

// Takes the first whole line off the text, without its newline. False: there is none yet.
bool take_line(std::string& text, std::string& line);

// Sends all of it or gives false; never waits, never raises a signal.
bool send_whole(int socket, const std::string& text);

// Sends open files, too: they go along with the first byte, and stay open here.
bool send_whole(int socket, const std::string& text, std::span<const int> files);

// Adds what one message brings, and waits for it where the socket does. False at the end, or if it is broken.
bool receive(int socket, std::string& text, std::deque<Descriptor>& files);

// Sockets whose names stand in no folder (abstract ones of Linux). The other end is checked: it must be a process of
// this user, or of root.
std::string unguessable_name();
Descriptor listen_at(const std::string& name);
Descriptor accept_from(int listener);  // none: no process connects, or only many strangers do

// One try, which does not wait.
struct Reached {
  Descriptor socket = {};  // none: no process listens there, unless
  bool crowded = false;    // so many wait there, or something lacks that others give back, that another try may help
};
Reached try_to_connect(const std::string& name);

// To each of these, in their order. Listeners that are crowded are waited for, for a second at most, all of them
// together.
std::vector<Descriptor> connect_to_all(std::span<const std::string> names);

// The listener must be a process of user `owner`: waits for five seconds at most. And: the other end may be of that
// user too.
Descriptor connect_to(const std::string& name, uid_t owner);
Descriptor accept_from(int listener, uid_t other_uid);

}  // namespace rota::process
