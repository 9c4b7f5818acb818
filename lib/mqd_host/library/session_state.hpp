// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "library/callbacks.hpp"
#include "library/filled_area.hpp"
#include "library/library_session.hpp"
#include "library/mqs_abi.hpp"

namespace mpiacq::mqd_host {

/// One running session. `call` is the only function that calls the library.
class session_run {
 public:
  session_run(queue_library& library, process_answers& answers, const session_facts& facts, const queue_limits& limits,
              report_sink& sink);

  /// Sets up the image and the process. Returns false if the library reports without a message that there are no queues
  /// to show. Fails if the library fails, or gives a message.
  [[nodiscard]] result<bool> set_up();
  void list_new_processes();
  void list_communicators();
  void put_away();

  [[nodiscard]] callback_session& callbacks() { return callbacks_; }

 private:
  template <class Function, class... Arguments>
  auto call(entry_point entry, Arguments... arguments);
  [[nodiscard]] result<bool> set_up_image();
  [[nodiscard]] result<bool> set_up_process();
  void set_up_job();
  void set_identity();
  [[nodiscard]] result<bool> has_queues(entry_point entry, int code, const char* message, std::string_view what);

  void update_communicators();
  [[nodiscard]] bool list_communicator();
  [[nodiscard]] bool take_group(queue_communicator& c);
  [[nodiscard]] bool list_queue(queue_class which, const queue_communicator& of);
  [[nodiscard]] queue_knowledge list_operations(queue_class which, const queue_communicator& of, bool& stop);

  /// Whether the session is over: the process cannot be read, its time has run out (which becomes a problem), or the
  /// report is full.
  [[nodiscard]] bool is_over();
  /// Whether the library wrote beyond the allowed length. Its memory may then be corrupt, and it is not called again.
  [[nodiscard]] bool wrote_beyond(const filled_area& area, std::size_t allowed, entry_point entry);
  [[nodiscard]] error failure(entry_point entry, int code);

  queue_library& library_;
  const session_facts& facts_;
  const queue_limits& limits_;
  report_sink& sink_;
  callback_session callbacks_;
  std::chrono::steady_clock::time_point deadline_;
  bool time_is_up_ = false;
  bool overran_ = false;
  bool longer_operations_ = false;
  std::uint64_t operations_ = 0;
  filled_area communicator_{sizeof(abi::communicator)};
  filled_area operation_{sizeof(abi::operation)};
};

template <class Function, class... Arguments>
auto session_run::call(entry_point entry, Arguments... arguments) {
  struct back {
    report_sink& sink;
    ~back() { sink.calling(entry_point::none); }
  } back{sink_};
  sink_.calling(entry);
  return library_.function<Function>(entry)(arguments...);
}

}  // namespace mpiacq::mqd_host
