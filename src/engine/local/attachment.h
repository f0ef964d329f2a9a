// A job that runs at a user's terminal (`rota run`). The process that waits there listens on a socket; the job's
// supervisor connects to it when the job is to start, makes a terminal or pipes, gives one side of them to the job and
// hands the other side over as open files. From then on the bytes go between these two, and through no other process:
// neither the service nor the supervisor has to be there for them. The connection stays: the supervisor tells through
// it how the job fares, and hears signals; its end tells that the other is gone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/attach.h"
#include "engine/local/record.h"
#include "process/descriptor.h"

namespace rota::local {

// The job's side: what becomes its input, output and error, where those are not files.
struct JobStreams {
  process::Descriptor input;
  process::Descriptor output;
  process::Descriptor error;
  bool terminal = false;  // it is to become the job's controlling terminal
};

class Attachment {
 public:
  // Connects, makes the streams and hands the other side over. Empty, or a sentence why it cannot be; does nothing for
  // a run that no process waits for.
  std::string open(const RunRequest& run);

  JobStreams& streams() { return streams_; }
  void started() { streams_ = {}; }  // the job's process has them now

  int socket() const { return socket_.get(); }  // to be polled for reading; -1: no process is attached
  // Signals that were asked for since, each a number; `gone` is set where the other is no more there.
  std::vector<int> hear(bool& gone);
  void tell(const RunRecord& record, RunPhase phase);

  // The job goes on alone: what it writes is read here, as no other process empties its pipes any more, and is kept in
  // its output file, which is opened with the rights of its user. To be polled for reading: left(). A sentence
  // where that file cannot be had: then it is lost.
  std::string go_on_alone(const RunRequest& run);
  const std::vector<process::Descriptor>& left() const { return left_; }
  // A piece of each; false: there was nothing. `lost` becomes a sentence once the file cannot be written.
  bool keep_what_is_left(const RunRequest& run, std::string& lost);

 private:
  std::string make(const RunRequest& run, std::vector<int>& handed, AttachNews& news);
  std::string make_terminal(const RunRequest& run, std::vector<int>& handed, AttachNews& news);
  std::string make_pipe(std::string_view name, std::vector<int>& handed, AttachNews& news);
  void keep(const RunRequest& run, std::string_view piece, std::string& lost);

  process::Descriptor socket_;
  std::string text_;  // read so far
  JobStreams streams_;
  std::vector<process::Descriptor> theirs_;  // handed over; kept where the job may go on alone
  std::vector<process::Descriptor> left_;    // read here
  process::Descriptor left_file_;
};

}  // namespace rota::local
