// The backend `images`: features of images, and k-means of such features, on one core. docs/accelerators.md describes
// the operations.
#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "accel/backend_abi.h"
#include "accel_images/clusters.h"
#include "accel_images/features.h"
#include "accel_images/jpeg.h"

struct rota_accel_device {
  std::vector<std::uint8_t> grey;
  rota::accel_images::Jpeg jpeg;
};

namespace {

using namespace rota::accel_images;
using std::int64_t;
using std::uint64_t;

constexpr int64_t kMostCount = 1'000'000'000;  // images, points, centres, rounds
constexpr uint64_t kMostBytes = uint64_t{1} << 40U;
constexpr uint64_t kAlignment = 64;

int fail(int outcome, char* why, std::size_t size, const char* sentence) {
  if (size > 0) std::snprintf(why, size, "%s", sentence);
  return outcome;
}

uint64_t aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
bool is(const rota_accel_header& header, std::string_view name) { return name == header.operation; }
bool within(int64_t number, int64_t least, int64_t most) { return number >= least && number <= most; }

struct Batch {  // width 0: JPEG files, behind a table of their lengths
  int width;
  int height;
  uint64_t images;
  uint64_t bytes;   // that an image has
  uint64_t floats;  // that its features have
};

Batch batch_of(const rota_accel_header& header) {
  const auto& p = header.parameters;
  const uint64_t floats = is(header, "colour") ? kColours : is(header, "lbp") ? kPatterns : kColours + kPatterns;
  return {static_cast<int>(p[0]), static_cast<int>(p[1]), static_cast<uint64_t>(p[2]),
          static_cast<uint64_t>(p[0]) * static_cast<uint64_t>(p[1]) * 3, floats};
}

using Length = std::uint32_t;  // of a JPEG file

int plan_features(const rota_accel_device& device, const rota_accel_header& header, rota_accel_plan& plan, char* why,
                  std::size_t size) {
  const auto& p = header.parameters;
  const bool jpeg = p[0] == 0 && p[1] == 0;
  if (jpeg && !device.jpeg.usable())
    return fail(ROTA_ACCEL_UNSUPPORTED, why, size,
                "for JPEG files libturbojpeg.so.0 is to be installed on the node of the container (libturbojpeg0)");
  if (jpeg && (!within(p[2], 1, kMostCount) || header.payload_bytes > kMostBytes ||
               header.payload_bytes <= static_cast<uint64_t>(p[2]) * sizeof(Length)))
    return fail(ROTA_ACCEL_BAD_TASK, why, size,
                "JPEG files are sent behind a length of 4 bytes for each, and one at least");
  if (!jpeg &&
      (!within(p[0], kLeastSide, kMostSide) || !within(p[1], kLeastSide, kMostSide) || !within(p[2], 1, kMostCount)))
    return fail(ROTA_ACCEL_BAD_TASK, why, size, "images are of 3 to 4096 by 3 to 4096 pixels, and one at least");
  const Batch batch = batch_of(header);
  if (!jpeg && (header.payload_bytes > kMostBytes || header.payload_bytes != batch.bytes * batch.images))
    return fail(ROTA_ACCEL_BAD_TASK, why, size, "images of this size are sent as 3 bytes for each pixel");
  const uint64_t offset = aligned(header.payload_bytes);
  const uint64_t result = batch.images * batch.floats * sizeof(float);
  plan = {offset + result, offset, result, 0};
  return ROTA_ACCEL_DONE;
}

// Where the parts lie in the buffer behind the points, and in the scratch.
struct Layout {
  uint64_t points, dimensions, many;
  uint64_t centres;  // floats
  uint64_t offset;   // in the buffer: centres, then labels
  uint64_t sums;     // in the scratch, behind the nearest distances
};

Layout layout_of(const rota_accel_header& header) {
  const auto& p = header.parameters;
  Layout layout{static_cast<uint64_t>(p[0]), static_cast<uint64_t>(p[1]), static_cast<uint64_t>(p[2]), 0, 0, 0};
  layout.centres = layout.many * layout.dimensions;
  layout.offset = aligned(header.payload_bytes);
  layout.sums = aligned(layout.points * sizeof(float));
  return layout;
}

int plan_clusters(const rota_accel_header& header, rota_accel_plan& plan, char* why, std::size_t size) {
  const auto& p = header.parameters;
  constexpr int64_t kMostDimensions = 1'000'000;
  if (!within(p[0], 1, kMostCount) || !within(p[1], 1, kMostDimensions) || !within(p[2], 1, p[0]) ||
      !within(p[4], 1, kMostCount))
    return fail(
        ROTA_ACCEL_BAD_TASK, why, size,
        "k-means is of points, their dimensions, at most as many centres as points, a seed, and rounds from 1 on");
  const Layout layout = layout_of(header);
  if (header.payload_bytes > kMostBytes || header.payload_bytes != layout.points * layout.dimensions * sizeof(float))
    return fail(ROTA_ACCEL_BAD_TASK, why, size, "points are sent as 4 bytes for each dimension");
  const uint64_t result = layout.centres * sizeof(float) + layout.points * sizeof(std::int32_t);
  plan = {layout.offset + result, layout.offset, result, layout.sums + layout.centres * sizeof(double)};
  return ROTA_ACCEL_DONE;
}

int plan(rota_accel_device* device, const rota_accel_header* header, rota_accel_plan* plan, char* why,
         std::size_t size) {
  return is(*header, "kmeans") ? plan_clusters(*header, *plan, why, size)
                               : plan_features(*device, *header, *plan, why, size);
}

// The images of a task, one by one.
class Images {
 public:
  Images(rota_accel_device& device, const rota_accel_run& run)
      : device_(device),
        batch_(batch_of(run.header)),
        bytes_(static_cast<const std::uint8_t*>(run.buffer), run.header.payload_bytes),
        at_(batch_.width == 0 ? batch_.images * sizeof(Length) : 0) {}

  // Without pixels: `why` says what is wrong with it.
  Image next(std::string& why) {
    const uint64_t number = number_++;
    if (batch_.width != 0) return {bytes_.subspan(number * batch_.bytes, batch_.bytes), batch_.width, batch_.height};
    Length length = 0;
    std::memcpy(&length, bytes_.data() + number * sizeof length, sizeof length);
    const bool last = number_ == batch_.images;
    Image image{};
    why = "the lengths of the files are not those of what is sent";
    if (length <= bytes_.size() - at_ && (!last || length == bytes_.size() - at_))
      image = device_.jpeg.read(bytes_.subspan(at_, length), why);
    if (image.pixels.empty()) why = "JPEG file " + std::to_string(number_) + ": " + why;
    at_ += length;
    return image;
  }

 private:
  rota_accel_device& device_;
  const Batch batch_;
  const std::span<const std::uint8_t> bytes_;
  uint64_t at_;  // the next file
  uint64_t number_ = 0;
};

int run_features(rota_accel_device& device, const rota_accel_run& run, char* why, std::size_t size) {
  const Batch batch = batch_of(run.header);
  auto* features = reinterpret_cast<float*>(static_cast<std::uint8_t*>(run.buffer) + run.plan.result_offset);
  Images images(device, run);
  std::string wrong;
  for (uint64_t i = 0; i < batch.images; ++i) {
    if (run.cancelled(run.context) != 0) return ROTA_ACCEL_CANCELLED;
    const Image image = images.next(wrong);
    if (image.pixels.empty()) return fail(ROTA_ACCEL_BAD_TASK, why, size, wrong.c_str());
    const std::span<float> of(features + i * batch.floats, batch.floats);
    if (!is(run.header, "lbp")) colours_of(image, of);
    if (!is(run.header, "colour")) patterns_of(image, device.grey, of.last(kPatterns));
  }
  return ROTA_ACCEL_DONE;
}

int run_clusters(const rota_accel_run& run) {
  const Layout layout = layout_of(run.header);
  auto* bytes = static_cast<std::uint8_t*>(run.buffer);
  auto* scratch = static_cast<std::uint8_t*>(run.scratch);
  auto* centres = reinterpret_cast<float*>(bytes + layout.offset);
  const Points points{
      {reinterpret_cast<const float*>(bytes), layout.points * layout.dimensions}, layout.points, layout.dimensions};
  const Clusters into{{centres, layout.centres},
                      {reinterpret_cast<std::int32_t*>(centres + layout.centres), layout.points},
                      {reinterpret_cast<float*>(scratch), layout.points},
                      {reinterpret_cast<double*>(scratch + layout.sums), layout.centres}};
  const bool done = find_clusters(points, static_cast<uint64_t>(run.header.parameters[3]), run.header.parameters[4],
                                  into, [&] { return run.cancelled(run.context) != 0; });
  return done ? ROTA_ACCEL_DONE : ROTA_ACCEL_CANCELLED;
}

int run(rota_accel_device* device, const rota_accel_run* run, char* why, std::size_t size) {
  return is(run->header, "kmeans") ? run_clusters(*run) : run_features(*device, *run, why, size);
}

int open_device(const char* config, rota_accel_device** device, char* why, std::size_t size) {
  if (*config != '\0') return fail(ROTA_ACCEL_BAD_TASK, why, size, "images takes nothing behind its name");
  *device = new rota_accel_device;
  return ROTA_ACCEL_DONE;
}

void describe(rota_accel_device* /*device*/, char* text, std::size_t size) {
  std::snprintf(text, size, "features of images and k-means, one core");
}

void state(rota_accel_device* /*device*/, rota_accel_state* into) {
  struct sysinfo system{};
  if (::sysinfo(&system) != 0) return;
  into->memory_bytes = static_cast<int64_t>(system.totalram) * system.mem_unit;
  into->memory_used_bytes = into->memory_bytes - static_cast<int64_t>(system.freeram) * system.mem_unit;
}

void close_device(rota_accel_device* device) { delete device; }

constexpr std::array<const char*, 5> kOperations{"colour", "lbp", "features", "kmeans", nullptr};
constexpr rota_accel_backend kBackend{
    ROTA_ACCEL_BACKEND_ABI, "images", kOperations.data(), open_device, describe, plan, run, state,
    close_device,           nullptr};

}  // namespace

const rota_accel_backend* rota_accel_backend_entry(void) { return &kBackend; }
