#include "accel_images/jpeg.h"

#include <dlfcn.h>

#include <memory>

namespace rota::accel_images {
namespace {

// As in turbojpeg.h: these values are part of the interface of libturbojpeg.so.0.
constexpr int kRedGreenBlue = 0;      // TJPF_RGB
constexpr int kStopOnWarning = 8192;  // TJFLAG_STOPONWARNING: what is cut off is an error
constexpr int kLimitScans = 32768;    // TJFLAG_LIMITSCANS: a small file cannot take for ever
constexpr const char* kLibrary = "libturbojpeg.so.0";

template <class Function>
bool find(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  return into != nullptr;
}

}  // namespace

struct Jpeg::Functions {
  void* (*begin)();
  int (*end)(void*);
  int (*sizes)(void*, const unsigned char*, unsigned long, int*, int*, int*, int*);
  int (*pixels)(void*, const unsigned char*, unsigned long, unsigned char*, int, int, int, int, int);
  const char* (*error)(void*);

  // Once, and for ever; null: the library is not here, or has others.
  static const Functions* found() {
    static Functions all{};
    static const bool complete = [] {
      void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
      return library != nullptr && find(library, "tjInitDecompress", all.begin) &&
             find(library, "tjDestroy", all.end) && find(library, "tjDecompressHeader3", all.sizes) &&
             find(library, "tjDecompress2", all.pixels) && find(library, "tjGetErrorStr2", all.error);
    }();
    return complete ? &all : nullptr;
  }
};

Jpeg::Jpeg() : functions_(Functions::found()) {}

// A decoder for each file, which takes less than a microsecond: it keeps tables of the file before.
Image Jpeg::read(std::span<const std::uint8_t> file, std::string& why) {
  const std::unique_ptr<void, int (*)(void*)> handle(functions_->begin(), functions_->end);
  int width = 0, height = 0, sampling = 0, colours = 0;
  if (functions_->sizes(handle.get(), file.data(), file.size(), &width, &height, &sampling, &colours) != 0) {
    why = functions_->error(handle.get());
    return {};
  }
  if (width < kLeastSide || height < kLeastSide || width > kMostSide || height > kMostSide) {
    why = "it is of " + std::to_string(width) + " by " + std::to_string(height) +
          " pixels, not of 3 to 4096 by 3 to 4096";
    return {};
  }
  pixels_.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  if (functions_->pixels(handle.get(), file.data(), file.size(), pixels_.data(), width, 0, height, kRedGreenBlue,
                         kStopOnWarning | kLimitScans) != 0) {
    why = functions_->error(handle.get());
    return {};
  }
  return {pixels_, width, height};
}

}  // namespace rota::accel_images
