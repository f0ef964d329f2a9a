#include "store/fact_page.h"

#include <fmt/core.h>

#include <string_view>

#include "store/field_kinds.h"
#include "store/journal_head.h"

namespace rota::store {
namespace {

// What parts are called. A part that has no name here does not compile.
template <class T>
struct PartName;
template <>
struct PartName<JobSpec> {
  static constexpr std::string_view kText = "request";
};
template <>
struct PartName<JobTerms> {
  static constexpr std::string_view kText = "terms";
};
template <>
struct PartName<Dependency> {
  static constexpr std::string_view kText = "dependency";
};
template <>
struct PartName<Placement> {
  static constexpr std::string_view kText = "place";
};
template <>
struct PartName<Share> {
  static constexpr std::string_view kText = "share";
};
template <>
struct PartName<PerNode> {
  static constexpr std::string_view kText = "on each node";
};
template <>
struct PartName<Reason> {
  static constexpr std::string_view kText = "reason";
};
template <>
struct PartName<Job> {
  static constexpr std::string_view kText = "job";
};
template <>
struct PartName<NodePowerRow> {
  static constexpr std::string_view kText = "power of a node";
};
template <>
struct PartName<LoadReading> {
  static constexpr std::string_view kText = "load";
};
template <>
struct PartName<PowerCounters> {
  static constexpr std::string_view kText = "power of all nodes";
};
template <>
struct PartName<Node> {
  static constexpr std::string_view kText = "node";
};
template <>
struct PartName<PowerDraw> {
  static constexpr std::string_view kText = "power draw";
};
template <>
struct PartName<TaskSpec> {
  static constexpr std::string_view kText = "tasks";
};
template <>
struct PartName<RunHistory> {
  static constexpr std::string_view kText = "past runs";
};
template <>
struct PartName<JobUse> {
  static constexpr std::string_view kText = "use of a job";
};
template <>
struct PartName<NodeWish> {
  static constexpr std::string_view kText = "wish for nodes";
};
template <>
struct PartName<LicenceUse> {
  static constexpr std::string_view kText = "licences";
};
template <>
struct PartName<Reservation> {
  static constexpr std::string_view kText = "reservation";
};
template <>
struct PartName<Offer> {
  static constexpr std::string_view kText = "offer";
};

using Parts = KindsOf<
    KindList<JobSpec, NodeWish, JobTerms, Dependency, Placement, Share, PerNode, JobUse, LicenceUse, Reason, Job,
             NodePowerRow, LoadReading, PowerCounters, Node, PowerDraw, TaskSpec, RunHistory, Reservation, Offer>>;

template <class T>
std::string type_text() {
  if constexpr (AList<T>) {
    return "list of: " + type_text<typename T::value_type>();
  } else if constexpr (AShortList<T>) {
    return fmt::format("list of at most {}: {}", T::kMost, type_text<typename T::value_type>());
  } else if constexpr (AShared<T>) {
    return type_text<SharedPart<T>>() + ", or none";
  } else if constexpr (AStruct<T>) {
    const std::string name(PartName<T>::kText);
    std::string anchor = name;
    for (char& c : anchor) c = c == ' ' ? '-' : c;
    return fmt::format("[{}](#part-{})", name, anchor);
  } else if constexpr (std::same_as<T, Instant>) {
    return "instant";
  } else if constexpr (std::same_as<T, Duration>) {
    return "duration";
  } else if constexpr (AnId<T>) {
    return "id";
  } else if constexpr (std::same_as<T, bool>) {
    return "yes or no";
  } else if constexpr (std::same_as<T, std::string>) {
    return "text";
  } else if constexpr (AnEnum<T>) {
    std::string all;
    for (const std::string_view name : ValueNames<T>::names)
      all += fmt::format("{}{}`", all.empty() ? "`" : ", `", name);
    return all;
  } else if constexpr (std::floating_point<T>) {
    return sizeof(T) == sizeof(double) ? "figure, 8 bytes" : "figure, 4 bytes";
  } else {
    return fmt::format("{}, {} bits", std::signed_integral<T> ? "number" : "number from 0 on", 8 * sizeof(T));
  }
}

template <AStruct T>
std::string field_rows() {
  std::string rows = "| field | is | meaning | since |\n|---|---|---|---|\n";
  for_each_field<T>([&](const auto& field) {
    using Member = std::remove_cvref_t<decltype(std::declval<T>().*field.member)>;
    rows += fmt::format("| `{}` | {} | {} | {} |\n", field.name, type_text<Member>(), field.meaning, field.since);
  });
  return rows;
}

std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::observed:
      return "observed";
    case Origin::decided:
      return "decided";
    case Origin::kept:
      return "kept";
  }
  return "";
}

}  // namespace

std::string fact_page() {
  std::string page;
  int number = 0;
  AllKinds::for_each([&]<class Kind>(std::type_identity<Kind>) {
    page += fmt::format("### `{}`\n\nNumber {}, {}: {}.\n\n{}\n", Fields<Kind>::name, number++,
                        name_of(Fields<Kind>::origin), Fields<Kind>::meaning, field_rows<Kind>());
  });
  Parts::for_each([&]<class Part>(std::type_identity<Part>) {
    page += fmt::format("### Part: {}\n\n{}\n", PartName<Part>::kText, field_rows<Part>());
  });
  page.pop_back();
  return page;
}

std::string head_page() { return field_rows<JournalHead>(); }

}  // namespace rota::store
