#include "engine/local/supervisor_callers.h"

#include <iterator>
#include <utility>

#include "base/words.h"

namespace rota::local {

using process::accept_from;
using process::Descriptor;
using process::kLongestTold;
using process::read_piece;
using process::send_whole;
using process::take_line;

Callers::Callers(Descriptor listener, Connection born_with, Hear hear)
    : listener_(std::move(listener)), hear_(std::move(hear)) {
  connections_.push_back(std::move(born_with));
}

void Callers::watch(std::vector<pollfd>& watched) const {
  watched.push_back({listener_.get(), POLLIN, 0});
  for (const Connection& connection : connections_) watched.push_back({connection.socket.get(), POLLIN, 0});
}

void Callers::read(const pollfd* watched) {
  const bool more_come = watched++->revents != 0;
  for (auto at = connections_.begin(); at != connections_.end(); ++watched) {
    if (watched->revents != 0) {
      const bool open = read_piece(at->socket.get(), at->text);
      hear_lines(*at);
      if (!open || at->text.size() > kLongestTold) at->socket.reset();
    }
    at = at->socket ? std::next(at) : connections_.erase(at);
  }
  if (more_come) take_new();
}

void Callers::hear_lines(Connection& connection) {
  std::string line;
  while (take_line(connection.text, line)) {
    Tell tell;
    read_words(line, tell);
    hear_(tell, connection);
  }
}

void Callers::take_new() {
  while (Descriptor socket = accept_from(listener_.get())) connections_.push_back({std::move(socket), {}});
}

void Callers::tell(const RunRecord& record) const {
  const std::string line = in_words(record);
  for (const Connection& connection : connections_) send_whole(connection.socket.get(), line);
}

void Callers::close() {
  listener_.reset();
  connections_.clear();
}

void Callers::wait_for_new(int milliseconds) {
  connections_.clear();
  pollfd newcomer{listener_.get(), POLLIN, 0};
  ::poll(&newcomer, 1, milliseconds);
  take_new();
}

}  // namespace rota::local
