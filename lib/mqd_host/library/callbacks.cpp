// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "library/callbacks.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "library/printable_text.hpp"
#include "separate/queue_messages.hpp"

namespace mpiacq::mqd_host {

namespace {

constexpr std::size_t longest_note = 1024;
constexpr std::size_t most_notes = 256;
constexpr std::size_t most_problems = 256;
constexpr std::size_t most_missing = 1000;

thread_local callback_session* current_session = nullptr;

/// A name that a library passed; empty for a null pointer, and for a name without an end.
std::string_view name_of(const char* text) {
  if (text == nullptr) return {};
  const std::size_t length = ::strnlen(text, longest_asked_name + 1);
  return length > longest_asked_name ? std::string_view{} : std::string_view{text, length};
}

source_language language_of(int language) {
  return language == abi::lang_f77 || language == abi::lang_f90 ? source_language::fortran : source_language::c;
}

/// All blocks that libraries have allocated. A library may keep a block in a global variable beyond its session, so the
/// end of a session frees nothing. The table shows when a library frees a block that it never got.
std::unordered_map<void*, std::size_t>& blocks() {
  static auto& all = *new std::unordered_map<void*, std::size_t>();
  return all;
}

constexpr int code(own_code c) {
  return static_cast<int>(c);
}

}  // namespace

callback_session* callback_session::current() {
  return current_session;
}

callback_session::callback_session(process_answers& answers, const session_facts& facts, const queue_limits& limits,
                                   report_sink& sink)
    : answers_(answers), facts_(facts), limits_(limits), sink_(sink), before_(current_session) {
  current_session = this;
}

callback_session::~callback_session() {
  current_session = before_;
}

void callback_session::problem(error e) {
  if (problems_++ < most_problems) sink_.problem(std::move(e));
}

void callback_session::note(std::string text) {
  if (!text.empty() && notes_++ < most_notes) sink_.note(std::move(text));
}

void callback_session::passed(bound which, std::string sentence) {
  if (passed_.insert(which).second) problem(error(error_code::limit, std::move(sentence)));
}

void* callback_session::allocate(std::size_t bytes) {
  if (bytes > limits_.allocated_bytes || allocated_ > limits_.allocated_bytes - bytes) {
    passed(bound::allocations,
           fmt::format("the library asked for more than {} bytes of memory, and was refused", limits_.allocated_bytes));
    return nullptr;
  }
  void* memory = std::malloc(std::max<std::size_t>(bytes, 1));
  if (memory == nullptr) return nullptr;
  blocks()[memory] = bytes;
  allocated_ += bytes;
  return memory;
}

void callback_session::release(void* memory) {
  if (memory == nullptr) return;  // free accepts null, and libraries rely on that
  const auto block = blocks().find(memory);
  if (block == blocks().end()) {
    note("the library freed memory that it had not allocated");
    return;
  }
  allocated_ -= std::min<std::uint64_t>(allocated_, block->second);
  blocks().erase(block);
  std::free(memory);
}

void callback_session::print(const char* text) {
  note(printable_c_string(text, longest_note));
}

void callback_session::get_type_sizes(abi::type_sizes& into) const {
  const target_abi& a = answers_.abi();
  into = {a.short_size, a.int_size, a.long_size, a.long_long_size, a.pointer_size};
}

int callback_session::answer(result<std::optional<std::uint64_t>> found, abi::address* into) {
  if (!found) {
    broken_ = std::move(found.error());
    return code(own_code::gone);
  }
  if (!*found) return code(own_code::not_there);
  if (into != nullptr) *into = **found;  // a caller without `into` only asks whether the name exists
  return abi::ok;
}

int callback_session::find_function(const char* name, int language, abi::address* into) {
  const auto wanted = name_of(name);
  if (wanted.empty()) return code(own_code::misused);
  if (broken_) return code(own_code::gone);
  return answer(answers_.find_function(wanted, language_of(language)), into);
}

int callback_session::find_symbol(const char* name, abi::address* into) {
  const auto wanted = name_of(name);
  if (wanted.empty()) return code(own_code::misused);
  if (broken_) return code(own_code::gone);
  return answer(answers_.find_symbol(wanted), into);
}

void callback_session::is_missing(std::string type, std::string field) {
  if (missing_.size() >= most_missing) return;
  if (!missing_.emplace(type, field).second) return;
  sink_.missing({std::move(type), std::move(field)});
}

abi::type* callback_session::find_type(const char* name, int language) {
  const auto wanted = name_of(name);
  if (wanted.empty() || broken_) return nullptr;
  auto found = answers_.find_type(wanted, language_of(language));
  if (!found) {
    broken_ = std::move(found.error());
    return nullptr;
  }
  if (!*found) {
    is_missing(printable(wanted, longest_note), "");
    return nullptr;
  }
  type_names_.try_emplace(**found, printable(wanted, longest_note));
  return type_handle(**found);
}

int callback_session::field_offset(const abi::type* handle, const char* field) {
  constexpr int absent = -1;
  const auto wanted = name_of(field);
  const auto type = type_of_handle(handle);
  if (!type || wanted.empty() || broken_) return absent;
  const auto known = type_names_.find(*type);
  if (known == type_names_.end()) return absent;
  completion_.asked_for(known->second, wanted);
  auto offset = answers_.field_offset(*type, wanted);
  if (!offset) {
    broken_ = std::move(offset.error());
    return absent;
  }
  if (*offset >= 0 && *offset <= std::numeric_limits<int>::max()) return static_cast<int>(*offset);
  is_missing(known->second, printable(wanted, longest_note));
  return absent;
}

int callback_session::size_of(const abi::type* handle) {
  const auto type = type_of_handle(handle);
  if (!type || broken_ || !type_names_.contains(*type)) return 0;
  auto size = answers_.type_size(*type);
  if (!size) {
    broken_ = std::move(size.error());
    return 0;
  }
  return *size <= static_cast<std::uint64_t>(std::numeric_limits<int>::max()) ? static_cast<int>(*size) : 0;
}

int callback_session::fetch(abi::address from, int bytes, void* into) {
  if (bytes < 0 || into == nullptr) return code(own_code::misused);
  if (bytes == 0) return abi::ok;
  const auto size = static_cast<std::uint64_t>(bytes);
  if (size > limits_.fetch_bytes) {
    passed(bound::fetch,
           fmt::format("the library requested {} bytes in one fetch; the limit is {}", size, limits_.fetch_bytes));
    return code(own_code::refused);
  }
  if (fetched_ + size > limits_.fetched_bytes) {
    passed(bound::all_fetches,
           fmt::format("the library requested more than {} bytes of the process", limits_.fetched_bytes));
    return code(own_code::refused);
  }
  if (from > std::numeric_limits<abi::address>::max() - size) return code(own_code::unreadable);
  if (broken_) return code(own_code::gone);
  fetched_ += size;
  const std::span<std::byte> bytes_of_library{static_cast<std::byte*>(into), static_cast<std::size_t>(size)};
  auto all = answers_.fetch(from, bytes_of_library);
  if (!all) {
    broken_ = std::move(all.error());
    return code(own_code::gone);
  }
  if (!*all) return code(own_code::unreadable);
  completion_.correct(bytes_of_library);
  return abi::ok;
}

void callback_session::target_to_host(const void* from, void* into, std::size_t bytes) const {
  std::memmove(into, from, bytes);  // libraries convert in place, so that `from` and `into` may be equal
  const bool same = (answers_.abi().order == byte_order::little) == (std::endian::native == std::endian::little);
  if (!same) std::reverse(static_cast<std::byte*>(into), static_cast<std::byte*>(into) + bytes);
}

}  // namespace mpiacq::mqd_host
