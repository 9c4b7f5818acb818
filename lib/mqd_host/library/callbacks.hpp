// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "library/library_session.hpp"
#include "library/mqs_abi.hpp"
#include "library/openmpi_completion.hpp"

namespace mpiacq::mqd_host {

/// The error codes of the callbacks. A library may ask for their texts.
enum class own_code : int {
  misused = abi::first_own,  ///< a null pointer, a foreign handle, or an impossible size
  not_there,
  unreadable,
  refused,  ///< a limit was reached
  gone,     ///< the process cannot be read any more
};
[[nodiscard]] const char* words_of(int code);

/// The tables that a library gets. They are constants, so a library may keep their addresses.
[[nodiscard]] const abi::basic_callbacks& basic_callback_table();
[[nodiscard]] const abi::image_callbacks& image_callback_table();
[[nodiscard]] const abi::process_callbacks& process_callback_table();
[[nodiscard]] const abi::job_callbacks& job_callback_table();

// A library gets numbers as handles, not pointers. No address space has them as addresses, so a library that
// dereferences one crashes at once, and a callback detects any other value.
[[nodiscard]] abi::image* image_handle();
[[nodiscard]] abi::process* process_handle();
[[nodiscard]] abi::job* job_handle();
[[nodiscard]] abi::type* type_handle(type_number type);
[[nodiscard]] std::optional<type_number> type_of_handle(const abi::type* handle);

/// The callbacks' work for the current process. The tables reach it through `current()`. While the object exists,
/// callbacks on the thread that made it are answered; callbacks on any other thread fail.
class callback_session {
 public:
  callback_session(process_answers& answers, const session_facts& facts, const queue_limits& limits, report_sink& sink);
  ~callback_session();
  callback_session(const callback_session&) = delete;
  callback_session& operator=(const callback_session&) = delete;

  [[nodiscard]] static callback_session* current();

  // The library's own data, which it attached to its three objects.
  abi::image_info* image_info = nullptr;
  abi::process_info* process_info = nullptr;
  abi::job_info* job_info = nullptr;

  [[nodiscard]] void* allocate(std::size_t bytes);
  void release(void* memory);
  void print(const char* text);
  void get_type_sizes(abi::type_sizes& into) const;
  int find_function(const char* name, int language, abi::address* into);
  int find_symbol(const char* name, abi::address* into);
  abi::type* find_type(const char* name, int language);
  int field_offset(const abi::type* handle, const char* field);
  int size_of(const abi::type* handle);
  int fetch(abi::address from, int bytes, void* into);
  void target_to_host(const void* from, void* into, std::size_t bytes) const;
  [[nodiscard]] int identity() const { return static_cast<int>(facts_.identity); }

  /// Why the process cannot be read any more.
  [[nodiscard]] const std::optional<error>& broken() const { return broken_; }
  [[nodiscard]] bool asked_for_missing_types() const { return !missing_.empty(); }
  /// Passes the problem to the sink, up to a limit of problems.
  void problem(error e);
  void note(std::string text);

 private:
  enum class bound : std::uint8_t { fetch, all_fetches, allocations };
  int answer(result<std::optional<std::uint64_t>> found, abi::address* into);
  void is_missing(std::string type, std::string field);
  void passed(bound which, std::string sentence);

  process_answers& answers_;
  const session_facts& facts_;
  const queue_limits& limits_;
  report_sink& sink_;
  std::optional<error> broken_;
  std::uint64_t fetched_ = 0;
  std::uint64_t allocated_ = 0;
  std::unordered_map<type_number, std::string> type_names_;
  openmpi_completion completion_;
  std::set<std::pair<std::string, std::string>> missing_;
  std::set<bound> passed_;
  std::size_t problems_ = 0;
  std::size_t notes_ = 0;
  callback_session* before_;
};

}  // namespace mpiacq::mqd_host
