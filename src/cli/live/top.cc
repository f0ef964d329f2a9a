// rota top: the queue on a whole screen, with keys.
#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/text.h"
#include "cli/command.h"
#include "cli/live/errands.h"
#include "cli/live/explained.h"
#include "cli/live/service.h"
#include "cli/live/terminal.h"
#include "cli/live/top_view.h"

namespace rota::cli {
namespace {

constexpr std::int64_t kMostRows = 500;  // of each kind

struct TopFlags {
  ServiceFlags service;
  std::int64_t every = 1;
  bool array = false;
};

// What is asked of the service for one picture.
struct Answers {
  Json status, plan, nodes;
};

Result<Answers> asked(const Service& service, const std::string& find, bool fold) {
  auto status = TRY(service.get("/v1/status"));
  auto plan = TRY(service.get(
      target_of("/v1/plan", {{"limit", std::to_string(kMostRows)}, {"find", find}, {"fold", fold ? "yes" : ""}})));
  auto nodes = TRY(service.get("/v1/nodes"));
  return Answers{std::move(status), std::move(plan), list_of(nodes, "nodes")};
}

std::string load_text() {
  std::array<double, 3> load{};
  if (::getloadavg(load.data(), 3) != 3) return "";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.2f %.2f %.2f", load[0], load[1], load[2]);
  return text.data();
}

class Top {
 public:
  Top(const TopFlags& flags, Terminal& terminal)
      : service_(flags.service),
        every_(static_cast<int>(flags.every) * 1000),
        fold_(!flags.array),
        terminal_(terminal),
        errands_([&terminal] { terminal.wake(); }) {}

  void take(Answers answers) {
    view_.status = std::move(answers.status);
    view_.plan = std::move(answers.plan);
    view_.nodes = std::move(answers.nodes);
    view_.load = load_text();
    view_.lost.clear();
    const auto rows = rows_of(view_);
    if (chosen_of(view_) == nullptr) {  // it has gone: the job that stands in its place
      view_.chosen = rows.empty() ? "" : text_of(*rows[std::min(place_, rows.size() - 1)], "id");
    }
    keep_in_sight();
  }

  // Until the user wants no more. False: something is still being waited for.
  bool run() {
    look();
    while (!over_) {
      terminal_.show(drawn(view_, terminal_.size()));
      const Happened happened = terminal_.wait(every_);
      if (happened.stop) break;
      if (happened.resized) keep_in_sight();
      errands_.finish();
      if (happened.key != Key::none) {
        press(happened.key);
      } else if (!happened.woken && !happened.resized) {
        look();
      }
    }
    return errands_.idle();
  }

 private:
  // An answer that is on its way may be of before what has just been done.
  void look_anew() {
    anew_ = looking_;
    look();
  }

  void look() {
    if (looking_) return;
    looking_ = true;
    errands_.add([this, find = view_.find, fold = fold_]() -> std::function<void()> {
      auto answers = std::make_shared<Result<Answers>>(asked(service_, find, fold));
      return [this, answers, find, fold] {
        looking_ = false;
        if (!*answers) {
          view_.lost = answers->error().message;
        } else if (find == view_.find && fold == fold_ && !anew_) {
          take(std::move(**answers));
        } else {
          anew_ = false;
          look();
        }
      };
    });
  }

  void explain(const std::string& row) {
    explained_ = row;
    const Json* chosen = chosen_of(view_);
    const std::string first = chosen != nullptr && row == view_.chosen ? text_of(*chosen, "first") : "";
    const std::string id = first.empty() ? row : first;  // of tasks in one row the first
    const std::size_t width = std::clamp<std::size_t>(terminal_.size().columns, 20, 100);
    errands_.add([this, id, width]() -> std::function<void()> {
      const std::string path = "/v1/jobs/" + percent_encoded(id);
      const auto told = service_.get(path + "/explain");
      const auto job = service_.get(path);
      std::string text = told && job ? fmt::format("{}\n{}", explained(*told, width), members_text(*job))
                                     : (told ? job : told).error().message;
      return [this, text] { open_page(text); };
    });
  }

  void open_page(const std::string& text) {
    if (text == kTopKeys) explained_.clear();
    view_.page = text;
    view_.page_line = 0;
  }

  void act(const std::string& action, const std::string& id) {
    errands_.add([this, action, id]() -> std::function<void()> {
      const auto answer = service_.post("/v1/jobs/" + action, Json{{"ids", id}});
      std::string told = answer ? fmt::format("job {}{}", id,
                                              action == "cancel" ? " is being cancelled"
                                              : action == "hold" ? " is held"
                                                                 : " may start again")
                                : answer.error().message;
      for (const Json& job : answer ? list_of(*answer, "jobs") : Json::array()) {
        if (!flag_of(job, "done")) told = text_of(job, "detail");
      }
      return [this, told] {
        view_.told = one_line(told);
        look_anew();
        if (!view_.page.empty() && !explained_.empty()) explain(explained_);  // what the page says was before
      };
    });
  }

  // ---- keys

  void press(Key key) {
    view_.told.clear();
    if (key == Key{3}) return stop();  // Ctrl-C: the terminal makes no signal of it
    if (!view_.asking.empty()) return answer(key);
    if (view_.finding) return edit_filter(key);
    if (act_on(key)) return;
    if (view_.page.empty()) {
      press_in_queue(key);
    } else {
      press_in_page(key);
    }
  }

  void stop() { over_ = true; }

  void answer(Key key) {
    view_.asking.clear();
    if (key == Key{'y'}) act("cancel", asked_about_);
  }

  bool act_on(Key key) {
    const bool meant = key == Key{'c'} || key == Key{'h'} || key == Key{'r'};
    if (!meant) return false;
    const Json* job = chosen_of(view_);
    if (job == nullptr) {
      view_.told = "there is no job to do that to.";
    } else if (key == Key{'c'}) {
      asked_about_ = view_.chosen;
      view_.asking = one_line(
          fmt::format("Cancel job {} ({}) of {}?", view_.chosen, text_of(*job, "name"), text_of(*job, "user")));
    } else {
      act(key == Key{'h'} ? "hold" : "release", view_.chosen);
    }
    return true;
  }

  void edit_filter(Key key) {
    const auto code = static_cast<std::uint32_t>(key);
    if (key == Key::escape) view_.find.clear();
    if (key == Key::escape || key == Key::enter) view_.finding = false;
    if (key == Key::rubout && !view_.find.empty()) view_.find.pop_back();
    if (code >= ' ' && code < 256 && key != Key::rubout) view_.find += static_cast<char>(code);
    look();
  }

  void press_in_page(Key key) {
    const std::size_t lines = broken_page(view_, terminal_.size()).size(), room = room_of(view_, terminal_.size());
    const std::size_t last = lines > room ? lines - room : 0;
    const auto at = static_cast<std::int64_t>(view_.page_line) + step_of(key, static_cast<std::int64_t>(room));
    view_.page_line = static_cast<std::size_t>(std::clamp<std::int64_t>(at, 0, static_cast<std::int64_t>(last)));
    if (key == Key::escape || key == Key{'q'} || key == Key::enter) view_.page.clear();
  }

  void press_in_queue(Key key) {
    if (key == Key{'q'}) return stop();
    if (key == Key{'?'}) open_page(kTopKeys);
    if (key == Key{'/'}) view_.finding = true;
    if (key == Key{'a'}) {
      fold_ = !fold_;
      look_anew();
    }
    if (key == Key::enter && !view_.chosen.empty()) explain(view_.chosen);
    if (key == Key::escape && !view_.find.empty()) {
      view_.find.clear();
      look();
    }
    move(step_of(key, static_cast<std::int64_t>(room_of(view_, terminal_.size()))));
  }

  static std::int64_t step_of(Key key, std::int64_t page) {
    constexpr std::int64_t kFar = 1'000'000;
    if (key == Key::up || key == Key{'k'}) return -1;
    if (key == Key::down || key == Key{'j'}) return 1;
    if (key == Key::page_up || key == Key::page_down) return key == Key::page_up ? -page : page;
    if (key == Key::home || key == Key::end) return key == Key::home ? -kFar : kFar;
    return 0;
  }

  void move(std::int64_t by) {
    const auto rows = rows_of(view_);
    if (rows.empty() || by == 0) return;
    keep_in_sight();
    const auto last = static_cast<std::int64_t>(rows.size()) - 1;
    place_ = static_cast<std::size_t>(std::clamp<std::int64_t>(static_cast<std::int64_t>(place_) + by, 0, last));
    view_.chosen = text_of(*rows[place_], "id");
    keep_in_sight();
  }

  // Where the chosen row is, and the rows around it.
  void keep_in_sight() {
    const auto rows = rows_of(view_);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (text_of(*rows[i], "id") == view_.chosen) place_ = i;
    }
    const std::size_t room = std::max<std::size_t>(1, room_of(view_, terminal_.size()));
    if (place_ < view_.first) view_.first = place_;
    if (place_ >= view_.first + room) view_.first = place_ - room + 1;
    if (view_.first + room > rows.size()) view_.first = rows.size() > room ? rows.size() - room : 0;
  }

  Service service_;
  int every_;
  bool fold_;  // the tasks of an array in one row
  Terminal& terminal_;
  TopView view_;
  std::size_t place_ = 0;
  std::string asked_about_;
  std::string explained_;  // what the page is about; empty: the keys
  bool looking_ = false;
  bool anew_ = false;  // what is being looked at now is of before
  bool over_ = false;
  Errands errands_;  // last: it ends before what it speaks to
};

Result<int> top(const TopFlags& flags) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  auto first = asked(Service(flags.service), "", !flags.array);
  auto terminal = TRY(Terminal::open());
  if (!first) return std::unexpected(first.error());
  Top screen(flags, *terminal);
  screen.take(std::move(*first));
  if (screen.run()) return kDone;
  terminal.reset();  // what is still waited for may take long, and is not wanted any more
  ::_exit(kDone);
}

}  // namespace

void add_top(Command app, Action& action) {
  auto flags = std::make_shared<TopFlags>();
  Command command = app.add_subcommand("top", "watch the queue on the whole screen, with keys to cancel and hold");
  command.description(
      "What runs, what waits with its reason and start, and how full the nodes are, as it changes. "
      "? shows the keys. `rota page` has the same in a browser.");
  command.add_option("-i,--iterate", flags->every, "again after so many seconds; without: 1")
      .range(std::int64_t{1}, std::int64_t{3600})
      .type_name("SECONDS");
  command.add_flag("-r,--array", flags->array, "a row for each job of an array, also while they wait");
  flags->service.declare(command);
  command.footer(
      "Keys: up and down (or k and j) choose a job, Enter explains it, c cancels it (asks first), h holds it, r "
      "releases "
      "it, a unfolds arrays, / filters, ? helps, q quits.\n\n"
      "Examples:\n"
      "  rota top\n"
      "  rota top -i 5");
  command.callback([&action, flags] { action = [flags] { return top(*flags); }; });
}

}  // namespace rota::cli
