#include "report/plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/formatted.h"
#include "report/html_text.h"

namespace rota::report {
namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 340;
constexpr double kLeft = 68;
constexpr double kRight = 150;  // for the names of the lines
constexpr double kTop = 30;
constexpr double kBottom = 46;
constexpr std::array<const char*, 8> kColours{"#2563a8", "#c8501e", "#2f8f4e", "#8a3fa8",
                                              "#a97b12", "#0f8390", "#bf2f72", "#66605a"};

// What an axis spans, in steps of 1, 2 or 5 times a power of ten.
struct Axis {
  double low = 0;
  double high = 1;
  double step = 1;
};

Axis axis_over(double low, double high) {
  Axis axis{std::min(0.0, low), std::max(high, std::min(0.0, low) + 1e-9), 1};
  const double rough = (axis.high - axis.low) / 6;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  axis.step = 10 * power;
  for (const double step : {5 * power, 2 * power, power}) {
    if (step >= rough) axis.step = step;
  }
  axis.low = std::floor(axis.low / axis.step) * axis.step;
  axis.high = std::ceil(axis.high / axis.step - 1e-9) * axis.step;
  return axis;
}

struct Frame {
  Axis x;
  Axis y;
  double across(double at) const { return kLeft + (at - x.low) / (x.high - x.low) * (kWidth - kLeft - kRight); }
  double down(double at) const {
    return kHeight - kBottom - (at - y.low) / (y.high - y.low) * (kHeight - kTop - kBottom);
  }
};

Frame frame_of(const Plot& plot) {
  std::array<double, 4> bounds{0, 0, 0, 0};
  for (const Plot::Line& line : plot.lines) {
    for (const auto& [x, y] : line.points) {
      bounds = {std::min(bounds[0], x), std::max(bounds[1], x), std::min(bounds[2], y), std::max(bounds[3], y)};
    }
  }
  return {axis_over(bounds[0], bounds[1]), axis_over(bounds[2], bounds[3])};
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("{}{}</text>\n", formatted(R"(<text x="%.1f" y="%.1f" text-anchor="%s">)", x, y, anchor),
                     html_text(text));
}

// Steps are counted, not added up: a sum of tenths would end in a row of nines.
std::string axes(const Frame& frame) {
  std::string out = "<g fill=\"currentColor\" stroke=\"none\">\n";
  const auto steps = [](const Axis& axis) { return std::llround((axis.high - axis.low) / axis.step); };
  for (long long i = 0; i <= steps(frame.x); ++i) {
    const double at = frame.x.low + static_cast<double>(i) * frame.x.step;
    out += text_at(frame.across(at), kHeight - kBottom + 16, "middle", formatted("%.6g", at));
  }
  for (long long i = 0; i <= steps(frame.y); ++i) {
    const double at = frame.y.low + static_cast<double>(i) * frame.y.step;
    out += text_at(kLeft - 6, frame.down(at) + 4, "end", formatted("%.6g", at));
    out += formatted(R"(<path d="M%.1f %.1fH%.1f" stroke="currentColor" stroke-opacity="0.15"/>)", kLeft,
                     frame.down(at), kWidth - kRight) +
           "\n";
  }
  return out + "</g>\n";
}

std::string marks(const Plot::Line& line, const Frame& frame, const char* colour) {
  std::string path;
  std::string circles;
  for (const auto& [x, y] : line.points) {
    path += formatted("%s%.1f %.1f", path.empty() ? "M" : "L", frame.across(x), frame.down(y));
    if (!line.marked) continue;
    circles += fmt::format(
        "{}{}</title></circle>\n",
        formatted(R"(<circle cx="%.1f" cy="%.1f" r="3" fill="%s"><title>)", frame.across(x), frame.down(y), colour),
        html_text(line.name + formatted(": %.6g at %.6g", y, x)));
  }
  return fmt::format("{}\n{}",
                     formatted(R"(<path d="%s" fill="none" stroke="%s" stroke-width="1.8"/>)", path.c_str(), colour),
                     circles);
}

// Names stand at the ends of their lines, moved apart where these are close.
std::string names(const Plot& plot, const Frame& frame) {
  struct Name {
    double y;
    std::size_t line;
  };
  std::vector<Name> all;
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    if (!plot.lines[i].points.empty()) all.push_back({frame.down(plot.lines[i].points.back().second) + 4, i});
  }
  std::ranges::stable_sort(all, {}, &Name::y);
  for (std::size_t i = 1; i < all.size(); ++i) all[i].y = std::max(all[i].y, all[i - 1].y + 14);
  std::string out;
  for (const Name& name : all) {
    out += fmt::format("{}{}</g>\n", formatted(R"(<g fill="%s">)", kColours[name.line % kColours.size()]),
                       text_at(kWidth - kRight + 8, name.y, "start", plot.lines[name.line].name));
  }
  return out;
}

}  // namespace

std::string svg_of(const Plot& plot) {
  const Frame frame = frame_of(plot);
  std::string out =
      formatted(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="100%%" )", kWidth, kHeight) +
      R"(role="img" font-family="sans-serif" font-size="12" fill="currentColor" aria-label=")" + html_text(plot.title) +
      "\">\n";
  out += text_at(kLeft, 16, "start", plot.title);
  out += axes(frame);
  out += text_at((kLeft + kWidth - kRight) / 2, kHeight - 8, "middle", plot.x_label);
  out += fmt::format("<g transform=\"translate(14 {}) rotate(-90)\">{}</g>\n",
                     formatted("%.1f", (kTop + kHeight - kBottom) / 2), text_at(0, 0, "middle", plot.y_label));
  for (std::size_t i = 0; i < plot.lines.size(); ++i) out += marks(plot.lines[i], frame, kColours[i % kColours.size()]);
  return fmt::format("{}{}</svg>\n", out, names(plot, frame));
}

}  // namespace rota::report
