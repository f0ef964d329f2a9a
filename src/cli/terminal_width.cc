#include "cli/terminal_width.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace rota::cli {

std::size_t terminal_width(int descriptor) {
  winsize size{};
  if (::isatty(descriptor) != 1 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace rota::cli
