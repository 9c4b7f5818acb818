// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// One process from the set-up of its image to its end, in the order that libraries rely on.
#include "library/library_session.hpp"

#include <utility>

#include <fmt/format.h>

#include "library/mqs_decoding.hpp"
#include "library/printable_text.hpp"
#include "library/session_state.hpp"

namespace mpiacq::mqd_host {

namespace {

constexpr std::size_t longest_message = 2048;
constexpr std::size_t longest_function_name = 1024;
constexpr std::size_t most_new_processes = 100'000;

/// A library's message with the program's name in place of its "%s". The library wrote the message for printf, but
/// foreign text must not be a format string.
std::string filled_in(const char* message, const std::string& image) {
  std::string text = printable_c_string(message, longest_message);
  std::string out;
  bool named = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool percent = text[i] == '%' && i + 1 < text.size();
    if (percent && text[i + 1] == 's' && !named) {
      out += image;
      named = true;
      ++i;
    } else if (percent && text[i + 1] == '%') {
      out += '%';
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

session_run::session_run(queue_library& library, process_answers& answers, const session_facts& facts,
                         const queue_limits& limits, report_sink& sink)
    : library_(library),
      facts_(facts),
      limits_(limits),
      sink_(sink),
      callbacks_(answers, facts, limits, sink),
      deadline_(std::chrono::steady_clock::now() + limits.process_time) {}

error session_run::failure(entry_point entry, int code) {
  std::string words;
  if (code == abi::no_information) {
    words = "it has no information";
  } else if (code == abi::end_of_list) {
    words = "end of list";
  } else {
    // Each library defines its own codes, so only the library knows what a code means.
    words = printable_c_string(call<abi::error_string>(entry_point::dll_error_string, code), longest_message);
  }
  return {error_code::bad_format, words.empty() ? fmt::format("{} gave error {}", name(entry), code)
                                                : fmt::format("{} gave error {}: {}", name(entry), code, words)};
}

bool session_run::is_over() {
  if (callbacks_.broken() || time_is_up_ || overran_ || sink_.full()) return true;
  if (std::chrono::steady_clock::now() < deadline_) return false;
  time_is_up_ = true;
  callbacks_.problem({error_code::timed_out, fmt::format("the library had not finished the process after {} ms",
                                                         limits_.process_time.count())});
  return true;
}

bool session_run::wrote_beyond(const filled_area& area, std::size_t allowed, entry_point entry) {
  const std::size_t beyond = area.written_past(allowed);
  if (beyond == 0) return false;
  overran_ = true;
  callbacks_.problem(
      {error_code::bad_format,
       fmt::format("{} wrote {} bytes beyond its buffer; the library was not called again", name(entry), beyond)});
  return true;
}

// The message is independent of the result (Message Queue Dumping 1.06, "Startup calls in the DLL"): a success with a
// message is a warning, and a failure without one means that the library has no queues to show. MPICH's library leaves
// a message on success.
result<bool> session_run::has_queues(entry_point entry, int code, const char* message, std::string_view what) {
  std::string said = filled_in(message, facts_.image);
  if (code == abi::ok) {
    callbacks_.note(std::move(said));
    return true;
  }
  if (said.empty()) {
    callbacks_.note(fmt::format("the library shows no message queues of the {}, and gives no message why ({})", what,
                                failure(entry, code).message));
    return false;
  }
  error e = failure(entry, code);
  e.code = error_code::not_found;
  e.message = fmt::format("the library finds no message queues in the {}: {}; {}", what, said, e.message);
  return fail(std::move(e));
}

result<bool> session_run::set_up_image() {
  const int code = call<abi::setup_image>(entry_point::setup_image, image_handle(), &image_callback_table());
  if (code != abi::ok) return fail(failure(entry_point::setup_image, code));
  char* message = nullptr;
  const int answer = call<abi::image_has_queues>(entry_point::image_has_queues, image_handle(), &message);
  return has_queues(entry_point::image_has_queues, answer, message, "program");
}

// A library lists queues even if it cannot attach data to a job.
void session_run::set_up_job() {
  if (!library_.has(entry_point::setup_job)) return;
  const int code = call<abi::setup_job>(entry_point::setup_job, job_handle(), &job_callback_table());
  if (code != abi::ok) callbacks_.problem(failure(entry_point::setup_job, code));
}

result<bool> session_run::set_up_process() {
  const int code = call<abi::setup_process>(entry_point::setup_process, process_handle(), &process_callback_table());
  if (code != abi::ok) return fail(failure(entry_point::setup_process, code));
  char* message = nullptr;
  const int answer = call<abi::process_has_queues>(entry_point::process_has_queues, process_handle(), &message);
  return has_queues(entry_point::process_has_queues, answer, message, "process");
}

void session_run::set_identity() {
  if (!library_.has(entry_point::set_process_identity)) return;
  const int identity = static_cast<int>(facts_.identity);
  const int code = call<abi::set_process_identity>(entry_point::set_process_identity, process_handle(), identity);
  if (code != abi::ok) callbacks_.problem(failure(entry_point::set_process_identity, code));
}

result<bool> session_run::set_up() {
  auto image = set_up_image();
  if (!image || !*image) return image;
  set_up_job();
  auto process = set_up_process();
  if (!process || !*process) return process;
  set_identity();
  return true;
}

void session_run::list_new_processes() {
  if (library_.has(entry_point::spawn_breakpoint_name) && !is_over()) {
    filled_area area(longest_function_name);
    const int code =
        call<abi::spawn_breakpoint_name>(entry_point::spawn_breakpoint_name, process_handle(),
                                         static_cast<char*>(area.data()), static_cast<int>(longest_function_name));
    if (wrote_beyond(area, longest_function_name, entry_point::spawn_breakpoint_name)) return;
    if (code == abi::ok) {
      sink_.spawn_breakpoint(printable(area.text(0, longest_function_name), longest_function_name));
    } else if (code != abi::no_information) {
      callbacks_.problem(failure(entry_point::spawn_breakpoint_name, code));
    }
  }
  constexpr auto setup = entry_point::setup_new_process_iterator;
  constexpr auto next = entry_point::next_new_process;
  if (!library_.has(setup) || !library_.has(next) || is_over()) return;
  int code = call<abi::of_process>(setup, process_handle());
  entry_point last = setup;
  filled_area area(sizeof(abi::process_location));
  for (std::size_t count = 0; code == abi::ok && !is_over(); ++count) {
    if (count == most_new_processes) {
      callbacks_.problem({error_code::limit, fmt::format("the library names more than {} new processes", count)});
      return;
    }
    area = filled_area(sizeof(abi::process_location));
    last = next;
    code = call<abi::next_new_process>(next, process_handle(), area.data());
    if (wrote_beyond(area, sizeof(abi::process_location), next)) return;
    if (code != abi::ok) break;
    auto process = decode_new_process(area);
    if (!process) return callbacks_.problem(std::move(process.error()));
    sink_.process(std::move(*process));
  }
  if (code != abi::ok && code != abi::end_of_list && code != abi::no_information) {
    callbacks_.problem(failure(last, code));
  }
}

void session_run::put_away() {
  if (overran_) return;  // the library's memory may be corrupt
  if (auto* info = std::exchange(callbacks_.process_info, nullptr); info != nullptr) {
    call<abi::destroy_process_info>(entry_point::destroy_process_info, info);
  }
  if (auto* info = std::exchange(callbacks_.job_info, nullptr);
      info != nullptr && library_.has(entry_point::destroy_job_info)) {
    (void)call<abi::destroy_job_info>(entry_point::destroy_job_info, info);
  }
  if (auto* info = std::exchange(callbacks_.image_info, nullptr); info != nullptr) {
    call<abi::destroy_image_info>(entry_point::destroy_image_info, info);
  }
}

result<void> run_session(queue_library& library, process_answers& answers, const session_facts& facts,
                         const queue_limits& limits, report_sink& sink) {
  sink.library(library_facts(library.facts()));
  session_run run(library, answers, facts, limits, sink);
  callback_session& callbacks = run.callbacks();
  auto set_up = run.set_up();
  if (set_up && *set_up) {
    sink.has_queues();
    run.list_new_processes();
    run.list_communicators();
  }
  run.put_away();
  if (callbacks.broken()) return fail(error(*callbacks.broken()));
  if (!set_up) return fail(std::move(set_up).error());
  if (callbacks.asked_for_missing_types()) {
    sink.problem({error_code::not_found,
                  "the library needs types that were not found; it continued without them, so its "
                  "report is not reliable"});
  }
  return {};
}

}  // namespace mpiacq::mqd_host
