// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The functions behind the tables. Each rejects foreign handles and lets no exception out, because the caller is C.
#include <cstring>

#include "library/callbacks.hpp"

namespace mpiacq::mqd_host {

namespace {

constexpr std::uintptr_t mark_of_handles = 0x6d71;  // in the upper 16 bits, where no canonical address has it
constexpr unsigned mark_shift = 48;
constexpr unsigned kind_shift = 32;
enum class handle_kind : std::uintptr_t { image = 1, process, job, type };

template <class T>
T* make_handle(handle_kind kind, std::uint32_t number) {
  const std::uintptr_t value =
      mark_of_handles << mark_shift | static_cast<std::uintptr_t>(kind) << kind_shift | std::uintptr_t{number};
  return reinterpret_cast<T*>(value);
}

/// Runs `what` for the current session. Returns `otherwise` outside of a session, on another thread than the session's,
/// for a foreign handle, or if memory has run out.
template <class Result, class Do>
Result guarded(bool ours, Result otherwise, Do what) noexcept {
  callback_session* session = callback_session::current();
  if (session == nullptr || !ours) return otherwise;
  try {
    return what(*session);
  } catch (...) {
    return otherwise;
  }
}

template <class Do>
void guarded_void(bool ours, Do what) noexcept {
  (void)guarded(ours, 0, [&](callback_session& s) {
    what(s);
    return 0;
  });
}

constexpr int misused = static_cast<int>(own_code::misused);
using session = callback_session;

void* on_malloc(std::size_t bytes) {
  return guarded<void*>(true, nullptr, [&](session& s) { return s.allocate(bytes); });
}
void on_free(void* memory) {
  guarded_void(true, [&](session& s) { s.release(memory); });
}
void on_dprints(const char* text) {
  guarded_void(true, [&](session& s) { s.print(text); });
}
char* on_errorstring(int code) {
  // The interface declares the result without const. A queue library has no reason to write there.
  return const_cast<char*>(words_of(code));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

void on_put_image_info(abi::image* image, abi::image_info* info) {
  guarded_void(image == image_handle(), [&](session& s) { s.image_info = info; });
}
abi::image_info* on_get_image_info(abi::image* image) {
  return guarded<abi::image_info*>(image == image_handle(), nullptr, [](session& s) { return s.image_info; });
}
void on_put_process_info(abi::process* process, abi::process_info* info) {
  guarded_void(process == process_handle(), [&](session& s) { s.process_info = info; });
}
abi::process_info* on_get_process_info(abi::process* process) {
  return guarded<abi::process_info*>(process == process_handle(), nullptr, [](session& s) { return s.process_info; });
}
void on_put_job_info(abi::job* job, abi::job_info* info) {
  guarded_void(job == job_handle(), [&](session& s) { s.job_info = info; });
}
abi::job_info* on_get_job_info(abi::job* job) {
  return guarded<abi::job_info*>(job == job_handle(), nullptr, [](session& s) { return s.job_info; });
}

void on_get_type_sizes(abi::process* process, abi::type_sizes* into) {
  guarded_void(process == process_handle() && into != nullptr, [&](session& s) { s.get_type_sizes(*into); });
}
int on_find_function(abi::image* image, char* name, int language, abi::address* into) {
  return guarded(image == image_handle(), misused, [&](session& s) { return s.find_function(name, language, into); });
}
int on_find_symbol(abi::image* image, char* name, abi::address* into) {
  return guarded(image == image_handle(), misused, [&](session& s) { return s.find_symbol(name, into); });
}
abi::type* on_find_type(abi::image* image, char* name, int language) {
  return guarded<abi::type*>(image == image_handle(), nullptr, [&](session& s) { return s.find_type(name, language); });
}
int on_field_offset(abi::type* type, char* field) {
  return guarded(true, -1, [&](session& s) { return s.field_offset(type, field); });
}
int on_size_of(abi::type* type) {
  return guarded(true, 0, [&](session& s) { return s.size_of(type); });
}

int on_get_global_rank(abi::process* process) {
  return guarded(process == process_handle(), -1, [](session& s) { return s.identity(); });
}
abi::image* on_get_image(abi::process* process) {
  return process == process_handle() ? image_handle() : nullptr;
}
int on_fetch_data(abi::process* process, abi::address from, int bytes, void* into) {
  return guarded(process == process_handle(), misused, [&](session& s) { return s.fetch(from, bytes, into); });
}
void on_target_to_host(abi::process* process, const void* from, void* into, int bytes) {
  const bool sound = process == process_handle() && from != nullptr && into != nullptr && bytes > 0;
  guarded_void(sound, [&](session& s) { s.target_to_host(from, into, static_cast<std::size_t>(bytes)); });
}
abi::job* on_get_process_job(abi::process* process) {
  return process == process_handle() ? job_handle() : nullptr;
}
// The document declares a parameter of type job. A job has many processes, so libraries pass a process instead.
int on_get_process_identity(abi::job* process_or_job) {
  const void* given = process_or_job;
  return guarded(given == process_handle() || given == job_handle(), -1, [](session& s) { return s.identity(); });
}
abi::process* on_get_process(abi::job* job, int index) {
  return guarded<abi::process*>(job == job_handle(), nullptr, [&](session& s) {
    return index == s.identity() ? process_handle() : nullptr;  // the session has no handles for other processes
  });
}

}  // namespace

abi::image* image_handle() {
  return make_handle<abi::image>(handle_kind::image, 1);
}
abi::process* process_handle() {
  return make_handle<abi::process>(handle_kind::process, 1);
}
abi::job* job_handle() {
  return make_handle<abi::job>(handle_kind::job, 1);
}
abi::type* type_handle(type_number type) {
  return make_handle<abi::type>(handle_kind::type, type);
}
std::optional<type_number> type_of_handle(const abi::type* handle) {
  const auto number = static_cast<type_number>(reinterpret_cast<std::uintptr_t>(handle));
  if (handle != type_handle(number)) return std::nullopt;
  return number;
}

const char* words_of(int code) {
  switch (code) {
    case abi::ok:
      return "no error";
    case static_cast<int>(own_code::misused):
      return "a callback got an invalid argument";
    case static_cast<int>(own_code::not_there):
      return "it does not exist";
    case static_cast<int>(own_code::unreadable):
      return "that memory of the process cannot be read";
    case static_cast<int>(own_code::refused):
      return "it is more than the tool allows";
    case static_cast<int>(own_code::gone):
      return "the process cannot be read any more";
    default:
      return "no such error of the tool";
  }
}

const abi::basic_callbacks& basic_callback_table() {
  static constexpr abi::basic_callbacks table{
      on_malloc,         on_free,           on_dprints,          on_errorstring,
      on_put_image_info, on_get_image_info, on_put_process_info, on_get_process_info,
      on_put_job_info,   on_get_job_info};
  return table;
}
const abi::image_callbacks& image_callback_table() {
  static constexpr abi::image_callbacks table{on_get_type_sizes, on_find_function, on_find_symbol,
                                              on_find_type,      on_field_offset,  on_size_of};
  return table;
}
const abi::process_callbacks& process_callback_table() {
  static constexpr abi::process_callbacks table{on_get_global_rank, on_get_image,       on_fetch_data,
                                                on_target_to_host,  on_get_process_job, on_get_process_identity};
  return table;
}
const abi::job_callbacks& job_callback_table() {
  static constexpr abi::job_callbacks table{on_get_process};
  return table;
}

}  // namespace mpiacq::mqd_host
