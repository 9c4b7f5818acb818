// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Values as bytes, for two processes of this project on one machine. Numbers are in the host's order, and everything of
// variable length has its length in front. A structure names its members once (members.hpp), for both directions.
//
// The reader trusts no length: if a length exceeds the bytes that are left, the reader fails and returns no value.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "framing/members.hpp"
#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/process/registers.hpp"

namespace mpiacq::base {

template <class T>
concept wire_number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class wire_writer {
 public:
  wire_writer() { bytes_.reserve(256); }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  [[nodiscard]] std::vector<std::byte> take() && { return std::move(bytes_); }

  template <wire_number T>
  void put(T value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof value);
  }
  void put(const std::string& text) {
    put(std::uint64_t{text.size()});
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), first, first + text.size());
  }
  template <class Tag>
  void put(detail::identity<Tag> id) {
    put(id.value());
  }
  void put(target_address address) { put(address.value()); }
  void put(std::chrono::milliseconds time) { put(std::int64_t{time.count()}); }
  /// Writes only the registers that have a meaning.
  void put(const thread_registers& registers) {
    put(registers.thread);
    put(registers.pc);
    put(registers.sp);
    put(registers.count);
    const auto used = std::as_bytes(std::span{registers.by_dwarf_number}.first(registers.count));
    bytes_.insert(bytes_.end(), used.begin(), used.end());
    for (const auto* set : {&registers.prstatus_registers, &registers.floating_point}) {
      put(std::uint64_t{set->size()});
      bytes_.insert(bytes_.end(), set->begin(), set->end());
    }
  }
  template <class T>
  void put(const std::vector<T>& all) {
    put(std::uint64_t{all.size()});
    for (const T& one : all) put(one);
  }
  template <class T>
  void put(const std::optional<T>& maybe) {
    put(maybe.has_value());
    if (maybe) put(*maybe);
  }
  template <class... Ts>
  void put(const std::variant<Ts...>& one_of) {
    put(static_cast<std::uint8_t>(one_of.index()));
    std::visit([this](const auto& value) { this->put(value); }, one_of);
  }
  template <class T>
  void put(const result<T>& outcome) {
    put(outcome.has_value());
    if (!outcome) return put(outcome.error());
    if constexpr (!std::is_void_v<T>) put(*outcome);
  }
  template <has_members T>
  void put(const T& value) {
    std::apply([&](auto... one) { (put(value.*pointer_of(one)), ...); }, members<T>);
  }

 private:
  std::vector<std::byte> bytes_;
};

class wire_reader {
 public:
  explicit wire_reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  /// Whether all requested values were there and no bytes are left.
  [[nodiscard]] bool complete() const { return fine_ && rest_.empty(); }

  template <wire_number T>
  void get(T& value) {
    if (rest_.size() < sizeof value) return give_up();
    if constexpr (std::is_same_v<T, bool>) {
      value = rest_.front() != std::byte{0};
    } else {
      std::memcpy(&value, rest_.data(), sizeof value);
    }
    rest_ = rest_.subspan(sizeof value);
  }
  void get(std::string& text) {
    const std::size_t length = get_count();
    text.assign(reinterpret_cast<const char*>(rest_.data()), length);
    rest_ = rest_.subspan(length);
  }
  template <class Tag>
  void get(detail::identity<Tag>& id) {
    std::int64_t value = 0;
    get(value);
    id = detail::identity<Tag>{value};
  }
  void get(target_address& address) {
    std::uint64_t value = 0;
    get(value);
    address = target_address{value};
  }
  void get(std::chrono::milliseconds& time) {
    std::int64_t count = 0;
    get(count);
    time = std::chrono::milliseconds{count};
  }
  void get(thread_registers& registers) {
    get(registers.thread);
    get(registers.pc);
    get(registers.sp);
    get(registers.count);
    if (registers.count > thread_registers::most) return give_up();
    const auto used = std::as_writable_bytes(std::span{registers.by_dwarf_number}.first(registers.count));
    if (rest_.size() < used.size()) return give_up();
    std::copy_n(rest_.begin(), used.size(), used.begin());  // may be empty
    rest_ = rest_.subspan(used.size());
    for (auto* set : {&registers.prstatus_registers, &registers.floating_point}) {
      std::uint64_t set_size = 0;
      get(set_size);
      if (set_size > thread_registers::most_set_bytes || rest_.size() < set_size) return give_up();
      const auto bytes = rest_.first(set_size);
      set->assign(bytes.begin(), bytes.end());
      rest_ = rest_.subspan(bytes.size());
    }
  }
  template <class T>
  void get(std::vector<T>& all) {
    const std::size_t count = get_count();
    all.clear();
    all.reserve(std::min(count, most_at_once));
    for (std::size_t i = 0; i < count && fine_; ++i) get(all.emplace_back());
  }
  template <class T>
  void get(std::optional<T>& maybe) {
    bool there = false;
    get(there);
    maybe.reset();
    if (there && fine_) get(maybe.emplace());
  }
  template <class... Ts>
  void get(std::variant<Ts...>& one_of) {
    std::uint8_t index = 0;
    get(index);
    get_alternative(one_of, index, std::index_sequence_for<Ts...>{});
  }
  template <class T>
  void get(result<T>& outcome) {
    bool worked = false;
    get(worked);
    if (!worked) {
      error what;
      get(what);
      outcome = fail(std::move(what));
    } else if constexpr (!std::is_void_v<T>) {
      T value{};
      get(value);
      outcome = std::move(value);
    } else {
      outcome = {};
    }
  }
  template <has_members T>
  void get(T& value) {
    std::apply([&](auto... one) { (get(value.*pointer_of(one)), ...); }, members<T>);
  }

 private:
  void give_up() {
    fine_ = false;
    rest_ = {};
  }
  /// A length. Each element takes at least one byte, so a length cannot exceed the bytes that are left.
  std::size_t get_count() {
    std::uint64_t count = 0;
    get(count);
    if (count <= rest_.size()) return static_cast<std::size_t>(count);
    give_up();
    return 0;
  }
  template <class Variant, std::size_t... Is>
  void get_alternative(Variant& one_of, std::size_t index, std::index_sequence<Is...>) {
    const bool known = ((index == Is && (get(one_of.template emplace<Is>()), true)) || ...);
    if (!known) give_up();
  }

  /// Memory is reserved for at most this many elements before the first one is read, because an element takes more
  /// memory than bytes in the message.
  static constexpr std::size_t most_at_once = 4096;
  std::span<const std::byte> rest_;
  bool fine_ = true;
};

/// Decodes all of `bytes` as one T; empty if they are no T.
template <class T>
[[nodiscard]] std::optional<T> decode(std::span<const std::byte> bytes) {
  wire_reader reader(bytes);
  std::optional<T> value(std::in_place);
  reader.get(*value);
  if (!reader.complete()) value.reset();
  return value;
}

template <class T>
[[nodiscard]] std::vector<std::byte> encode(const T& value) {
  wire_writer writer;
  writer.put(value);
  return std::move(writer).take();
}

}  // namespace mpiacq::base
