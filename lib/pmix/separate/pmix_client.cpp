// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "separate/pmix_client.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "framing/frames.hpp"
#include "framing/wire.hpp"
#include "separate/pmix_decoding.hpp"
#include "server/version_text.hpp"

namespace mpiacq::pmix {

namespace {

/// A server may keep the question for the parent of a namespace until that process publishes data. The parent is no
/// more than the name of a world's origin.
constexpr std::chrono::seconds patience_with_parent{2};

/// An answer that the library gives on a thread of its own. The object stays until both sides have let go of it: an
/// answer may come after its caller has stopped waiting.
template <class T>
class answer_slot {
 public:
  using pointer = std::shared_ptr<answer_slot>;

  void fill(T value) {
    const std::lock_guard lock(mutex_);
    value_ = std::move(value);
    filled_.notify_all();
  }
  [[nodiscard]] T wait() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return value_.has_value(); });
    return std::move(*value_);
  }
  [[nodiscard]] std::optional<T> wait_for(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    filled_.wait_for(lock, patience, [this] { return value_.has_value(); });
    return value_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::optional<T> value_;
};

/// What a query's answer is handled by, on the library's thread.
using query_handler = std::function<result<void>(std::span<const abi::info>)>;
struct query_call {
  query_call(const pmix_library& through, const char* asked, query_handler with)
      : library(through), key(asked), handle(std::move(with)) {}

  const pmix_library& library;
  const char* key;
  query_handler handle;
  answer_slot<result<void>> slot;
};
using query_pointer = std::shared_ptr<query_call>;

error query_refused(const pmix_library& library, const char* key, abi::status status) {
  return {error_code::system,
          fmt::format("the PMIx server answers the query {} with {}", key, library.name_of(status))};
}

void on_answer(abi::status status, abi::info* results, std::size_t count, void* data, abi::release_function release,
               void* to_release) {
  const std::unique_ptr<query_pointer> call(static_cast<query_pointer*>(data));
  result<void> outcome;
  if (status != abi::success) {
    outcome = fail(query_refused((*call)->library, (*call)->key, status));
  } else {
    outcome = (*call)->handle(infos_at(results, count));
  }
  if (release != nullptr) release(to_release);
  (*call)->slot.fill(std::move(outcome));
}

/// One query, with a namespace as its qualifier unless that is empty. `handle` runs on another thread before this
/// returns.
result<void> ask(const pmix_library& library, const char* key, std::string nspace, query_handler handle) {
  const auto call = std::make_shared<query_call>(library, key, std::move(handle));
  std::string text = key;
  std::array<char*, 2> keys{text.data(), nullptr};
  abi::info qualifier{};
  abi::query query{keys.data(), nullptr, 0};
  if (!nspace.empty()) {
    set_text(qualifier, abi::name_space, nspace);
    query.qualifiers = &qualifier;
    query.qualifier_count = 1;
  }
  auto* const data = new query_pointer(call);
  const abi::status status = library.query_info_nb(&query, 1, on_answer, data);
  if (status != abi::success) {
    delete data;
    return fail(query_refused(library, key, status));
  }
  return call->slot.wait();
}

using parent_slot = answer_slot<std::optional<process_name>>;

void on_parent(abi::status status, abi::value* found, void* data) {
  const std::unique_ptr<parent_slot::pointer> slot(static_cast<parent_slot::pointer*>(data));
  const bool is_there = status == abi::success && found != nullptr && found->type == abi::data_type::proc;
  (*slot)->fill(is_there ? process_at(found->data.process) : std::nullopt);
}

/// The library gives an event handler no data of the tool.
tool_socket* told_of_events = nullptr;

// NOLINTNEXTLINE(readability-function-size): PMIx prescribes the parameters (pmix_notification_fn_t).
void on_event(std::size_t /*id*/, abi::status what, const abi::proc* source, abi::info* about, std::size_t about_count,
              abi::info* /*results*/, std::size_t /*result_count*/, abi::handled_callback handled, void* data) {
  if (told_of_events != nullptr) {
    told_of_events->tell(
        event_told{what, process_at(source).value_or(process_name{}), affected_in(infos_at(about, about_count))});
  }
  if (handled != nullptr) handled(abi::action_complete, nullptr, 0, nullptr, nullptr, data);
}

using status_slot = answer_slot<abi::status>;

void on_registered(abi::status status, std::size_t /*id*/, void* data) {
  const std::unique_ptr<status_slot::pointer> slot(static_cast<status_slot::pointer*>(data));
  (*slot)->fill(status);
}

/// For the events that the tool reads. Others would have no effect: it asks for the tables again and again. Returns a
/// failure, or a number that is not negative.
abi::status register_for_events(const pmix_library& library, bool with_ends) {
  static std::array codes{abi::lost_connection, abi::job_end};
  const std::size_t count = with_ends ? codes.size() : 1;
  const auto slot = std::make_shared<status_slot>();
  (void)library.register_event_handler(codes.data(), count, nullptr, 0, on_event, on_registered,
                                       new status_slot::pointer(slot));
  return slot->wait();
}

void on_done(abi::status status, void* data) {
  const std::unique_ptr<status_slot::pointer> slot(static_cast<status_slot::pointer*>(data));
  (*slot)->fill(status);
}

struct spawned {
  abi::status status = 0;
  std::string nspace;
};
using spawn_slot = answer_slot<spawned>;

void on_spawned(abi::status status, char* nspace, void* data) {
  const std::unique_ptr<spawn_slot::pointer> slot(static_cast<spawn_slot::pointer*>(data));
  spawned what{status, {}};
  if (nspace != nullptr) what.nspace.assign(nspace, ::strnlen(nspace, abi::longest_namespace));
  (*slot)->fill(std::move(what));
}

}  // namespace

void tool_socket::tell(const helper_message& what) {
  const std::lock_guard lock(mutex_);
  // A tool that is gone needs nothing; the main thread sees the end of the socket.
  (void)base::send_frame(socket_, base::encode(what));
}

error pmix_client::refused(const char* what, abi::status status) const {
  return {error_code::system, fmt::format("{}: {}", what, library_.name_of(status))};
}

result<connected> pmix_client::connect(const begin_message& begin) {
  const std::string version = library_.version();
  // A library of another version can wait for ever, and makes the server print errors into the output of the job.
  if (!begin.server_version.empty() && begin.server_version != version) {
    return fail(error_code::unsupported,
                fmt::format("the PMIx server of the job has version {}, and the library {} has version {}: versions of "
                            "PMIx do not understand each other, so the server was not asked",
                            begin.server_version, begin.library, version.empty() ? "none" : version));
  }
  if (is_too_old_to_ask(version)) {
    return fail(
        error_code::unsupported,
        fmt::format("the library {} of the job's PMIx server has version {}: servers before version {} can fail, "
                    "and their job with them, when a tool asks them, so the server was not asked",
                    begin.library, version, oldest_version_asked));
  }
  std::string uri = begin.uri;
  abi::info where{};
  set_text(where, abi::server_uri, uri);
  abi::proc own{};
  const abi::status status = library_.tool_init(&own, &where, 1);
  if (status != abi::success) return fail(refused("the PMIx server refuses the connection", status));
  connected made{version, process_at(&own).value_or(process_name{})};
  own_namespace_ = made.own.nspace;
  return made;
}

result<std::vector<std::string>> pmix_client::namespaces() const {
  std::vector<std::string> names;
  const auto take = [&names](std::span<const abi::info> answer) -> result<void> {
    names = TRY(namespaces_in(answer));
    return {};
  };
  TRY(ask(library_, abi::query_namespaces, {}, take));
  return names;
}

std::optional<process_name> pmix_client::parent_of(const std::string& nspace) const {
  const auto slot = std::make_shared<parent_slot>();
  abi::proc first{};
  set_name(first, {nspace, 0});
  auto* const data = new parent_slot::pointer(slot);
  if (library_.get_nb(&first, abi::parent, nullptr, 0, on_parent, data) != abi::success) {
    delete data;
    return std::nullopt;
  }
  return slot->wait_for(patience_with_parent).value_or(std::nullopt);
}

result<void> pmix_client::tell_table(const std::string& nspace, std::optional<process_name> parent) {
  return ask(library_, abi::query_table, nspace, [&](std::span<const abi::info> answer) -> result<void> {
    const auto rows = TRY(rows_in(answer));
    tool_.tell(world_begins{nspace, std::move(parent), rows.size()});
    world_rows part;
    for (const abi::proc_info& one : rows) {
      auto row = row_of(one, nspace);
      if (!row) continue;
      part.rows.push_back(std::move(*row));
      if (part.rows.size() < rows_in_message) continue;
      tool_.tell(part);
      part.rows.clear();
    }
    if (!part.rows.empty()) tool_.tell(part);
    return {};
  });
}

result<void> pmix_client::tell_tables() {
  const auto names = TRY(namespaces());
  for (const std::string& one : names) {
    // With PMIx 7, the list has this program itself.
    if (one == own_namespace_) continue;
    auto parent = names.size() > 1 ? parent_of(one) : std::nullopt;
    if (auto told_one = tell_table(one, std::move(parent)); !told_one) {
      tool_.tell(problem_told{std::move(told_one).error().while_doing(fmt::format("the processes of {}", one))});
    }
  }
  return {};
}

result<void> pmix_client::tell_job(const ask_job& how) {
  if (how.follows) {
    told_of_events = &tool_;
    if (const abi::status done = register_for_events(library_, how.with_ends); done < 0) {
      return fail(refused("PMIx gives no events", done));
    }
  }
  return tell_tables();
}

result<void> pmix_client::release(const std::string& nspace) {
  abi::proc all{};
  set_name(all, {nspace, abi::any_rank});
  std::array<abi::info, 2> about{};
  set_flag(about[0], abi::event_non_default);
  set_process(about[1], abi::event_custom_range, all);
  const auto slot = std::make_shared<status_slot>();
  auto* const data = new status_slot::pointer(slot);
  const abi::status status = library_.notify_event(abi::debugger_release, nullptr, abi::custom_range, about.data(),
                                                   about.size(), on_done, data);
  constexpr abi::status done_at_once = -157;  // PMIX_OPERATION_SUCCEEDED: no callback follows
  if (status == done_at_once) {
    delete data;
    return {};
  }
  if (status != abi::success) {
    delete data;
    return fail(refused("the ranks could not be released", status));
  }
  if (const abi::status done = slot->wait(); done != abi::success && done != done_at_once) {
    return fail(refused("the ranks could not be released", done));
  }
  return {};
}

// PMIx Standard 4.1, 18.4.1: one daemon on each node that has a process of the target.
result<void> pmix_client::launch(const launch_daemons& what, std::string& nspace) {
  constexpr const char* failure = "the PMIx server cannot start daemons";
  std::vector<std::string> words = what.command;
  if (words.empty()) return fail(error_code::invalid_argument, "no program for the daemons is given");
  std::vector<char*> arguments;
  for (std::string& one : words) arguments.push_back(one.data());
  arguments.push_back(nullptr);
  std::string root = "/";
  const abi::app app{words.front().data(), arguments.data(), nullptr, root.data(), 1, nullptr, 0};
  abi::proc all{};
  set_name(all, {what.nspace, abi::any_rank});
  std::array<abi::info, 3> about{};
  set_flag(about[0], abi::debugger_daemons);
  set_process(about[1], abi::debug_target, all);
  set_number(about[2], abi::daemons_per_node, 1);
  const auto slot = std::make_shared<spawn_slot>();
  auto* const data = new spawn_slot::pointer(slot);
  if (const auto status = library_.spawn_nb(about.data(), about.size(), &app, 1, on_spawned, data);
      status != abi::success) {
    delete data;
    return fail(refused(failure, status));
  }
  spawned done = slot->wait();
  if (done.status != abi::success) return fail(refused(failure, done.status));
  nspace = std::move(done.nspace);
  return {};
}

}  // namespace mpiacq::pmix
