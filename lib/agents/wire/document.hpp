// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Values as parts of documents. A structure names its members and their keys once (members.hpp), for writing and
// reading. An enumerator is written as the text that `name` returns for it.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "framing/members.hpp"
#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/ranks/rank_selection.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "wire/cbor.hpp"

namespace mpiacq::agents {

/// The last enumerator of T. Specialised for each enumeration.
template <class T>
inline constexpr std::nullptr_t last_of = nullptr;
/// The key of an alternative of a variant.
template <class T>
inline constexpr std::nullptr_t kind_of = nullptr;

/// Specialised for types that are written as another type, `stand_in<T>::type`, by `to(const T&)`, and read by
/// `from(type)`, which returns a result. If that may take long, both have a `pulse_counter` as another parameter.
template <class T>
struct stand_in {};
template <class T>
concept has_stand_in = requires {
  typename stand_in<T>::type;
};

template <>
inline constexpr auto last_of<error_code> = error_code::system;

template <class T>
concept is_enumeration = !std::same_as<std::remove_cvref_t<decltype(last_of<T>)>, std::nullptr_t>;
template <class T>
concept has_name = requires(T value) {
  { name(value) } -> std::convertible_to<std::string_view>;
};

class document_writer : public cbor_writer {
 public:
  using cbor_writer::cbor_writer;

  void put(bool value) { put_bool(value); }
  template <std::integral T>
  void put(T value) {
    if constexpr (std::is_signed_v<T>) {
      put_integer(value);
    } else {
      put_unsigned(value);
    }
  }
  template <is_enumeration T>
  void put(T value) {
    if constexpr (has_name<T>) {
      put_text(name(value));
    } else {
      put_unsigned(static_cast<std::uint64_t>(value));
    }
  }
  void put(const std::string& text) { put_text(text); }
  void put(target_address address) { put_unsigned(address.value()); }
  void put(module_offset offset) { put_unsigned(offset.value()); }
  void put(const rank_set& ranks) { put_text(ranks.text()); }
  void put(const rank_selection& ranks) { put_text(ranks.text()); }
  template <class Tag, class Value>
  void put(detail::identity<Tag, Value> id) {
    put(id.value());
  }
  void put(entry_index entry) { put(entry.value()); }
  /// In microseconds.
  void put(std::chrono::steady_clock::duration time) {
    put_integer(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
  }
  template <std::size_t Size>
  void put(const std::array<std::byte, Size>& bytes) {
    put_bytes(bytes);
  }
  template <class T, std::size_t Size>
  void put(const std::array<T, Size>& all) {
    begin_array(Size);
    for (const T& one : all) put(one);
  }
  template <class T>
  void put(const std::vector<T>& all) {
    begin_array(all.size());
    for (const T& one : all) put(one);
  }
  template <class T>
  void put(const std::optional<T>& maybe) {
    maybe ? put(*maybe) : put_null();
  }
  template <class T>
  void put(const result<T>& outcome) {
    begin_map(1);
    if (!outcome) {
      put_text("error");
      put(outcome.error());
    } else {
      put_text("value");
      put(*outcome);
    }
  }
  template <class... Ts>
  void put(const std::variant<Ts...>& one_of) {
    begin_map(1);
    put_alternative(one_of);
  }
  template <class... Ts>
  void put_alternative(const std::variant<Ts...>& one_of) {
    std::visit(
        [this](const auto& value) {
          put_text(kind_of<std::remove_cvref_t<decltype(value)>>);
          this->put(value);
        },
        one_of);
  }
  template <has_stand_in T>
  void put(const T& value) {
    if constexpr (requires { stand_in<T>::to(value, pulses()); }) {
      put(stand_in<T>::to(value, pulses()));
    } else {
      put(stand_in<T>::to(value));
    }
  }
  template <has_members T>
  void put(const T& value) {
    begin_map(std::tuple_size_v<std::remove_cvref_t<decltype(members<T>)>>);
    std::apply([&](auto... one) { (put_member(one.key, value.*one.pointer), ...); }, members<T>);
  }

 private:
  template <class T>
  void put_member(std::string_view key, const T& value) {
    put_text(key);
    put(value);
  }
};

class document_reader : public cbor_reader {
 public:
  using cbor_reader::cbor_reader;

  void get(bool& value) { value = get_bool(); }
  template <std::integral T>
  void get(T& value) {
    if constexpr (std::is_signed_v<T>) {
      const std::int64_t number = get_integer();
      if (number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max())
        return give_up(error_code::bad_format, "a number is out of its range");
      value = static_cast<T>(number);
    } else {
      value = static_cast<T>(get_unsigned(std::numeric_limits<T>::max()));
    }
  }
  template <is_enumeration T>
  void get(T& value) {
    constexpr auto last = static_cast<std::uint64_t>(last_of<T>);
    if constexpr (has_name<T>) {
      const std::string_view text = get_text();
      for (std::uint64_t i = 0; i <= last; ++i) {
        value = static_cast<T>(i);
        if (name(value) == text) return;
      }
      give_up(error_code::bad_format, "an unknown word");
    } else {
      value = static_cast<T>(get_unsigned(last));
    }
  }
  void get(std::string& text) { text = get_text(); }
  void get(target_address& address) { address = target_address{get_unsigned()}; }
  void get(module_offset& offset) { offset = module_offset{get_unsigned()}; }
  void get(rank_set& ranks) { get_parsed(ranks); }
  void get(rank_selection& ranks) { get_parsed(ranks); }
  template <class Tag, class Value>
  void get(detail::identity<Tag, Value>& id) {
    Value value{};
    get(value);
    id = detail::identity<Tag, Value>{value};
  }
  void get(entry_index& entry) {
    std::uint32_t place = 0;
    get(place);
    entry = entry_index{place};
  }
  void get(std::chrono::steady_clock::duration& time) {
    constexpr std::int64_t most = std::int64_t{1} << 50U;  // 35 years: more overflows in nanoseconds
    const std::int64_t count = get_integer();
    if (count < -most || count > most) return give_up(error_code::bad_format, "a time is out of its range");
    time = std::chrono::microseconds{count};
  }
  void get(std::chrono::milliseconds& time) {
    std::chrono::steady_clock::duration exact{};
    get(exact);
    time = std::chrono::duration_cast<std::chrono::milliseconds>(exact);
  }
  template <std::size_t Size>
  void get(std::array<std::byte, Size>& bytes) {
    const auto found = get_bytes();
    if (found.size() != Size) return give_up(error_code::bad_format, "a byte string has another length");
    std::copy(found.begin(), found.end(), bytes.begin());
  }
  template <class T, std::size_t Size>
  void get(std::array<T, Size>& all) {
    if (begin_array() != Size) return give_up(error_code::bad_format, "an array has another length");
    for (T& one : all) get(one);
  }
  /// The vector grows as its elements are read: a count alone allocates nothing.
  template <class T>
  void get(std::vector<T>& all) {
    all.clear();
    for (std::size_t left = begin_array(); left != 0 && fine(); --left) get(all.emplace_back());
  }
  template <class T>
  void get(std::optional<T>& maybe) {
    maybe.reset();
    if (!skip_null()) get(maybe.emplace());
  }
  template <class T>
  void get(result<T>& outcome) {
    begin_map(1);
    if (const std::string_view which = get_key(); which == "value") {
      outcome = T{};
      get(*outcome);
    } else if (which == "error") {
      outcome = fail(get_error());
    } else {
      give_up(error_code::bad_format, "neither a value nor an error");
    }
  }
  template <class... Ts>
  void get(std::variant<Ts...>& one_of) {
    begin_map(1);
    get_alternative(one_of);
  }
  template <class... Ts>
  void get_alternative(std::variant<Ts...>& one_of) {
    const std::string_view kind = get_key();
    if (!(get_if<Ts>(kind, one_of) || ...)) give_up(error_code::bad_format, "an unknown kind");
  }
  template <has_stand_in T>
  void get(T& value) {
    typename stand_in<T>::type other;
    get(other);
    if (!fine()) return;
    auto made = made_of<T>(std::move(other));
    if (!made) return give_up(made.error().code, made.error().message);
    value = std::move(*made);
  }
  template <has_members T>
  void get(T& value) {
    begin_map(std::tuple_size_v<std::remove_cvref_t<decltype(members<T>)>>);
    std::apply([&](auto... one) { (get_member(one.key, value.*one.pointer), ...); }, members<T>);
  }

 private:
  template <has_stand_in T>
  [[nodiscard]] result<T> made_of(typename stand_in<T>::type&& other) {
    if constexpr (requires { stand_in<T>::from(std::move(other), pulses()); }) {
      return stand_in<T>::from(std::move(other), pulses());
    } else {
      return stand_in<T>::from(std::move(other));
    }
  }
  [[nodiscard]] error get_error() {
    error e;
    get(e);
    return e;
  }
  template <class T>
  void get_member(std::string_view expected, T& value) {
    key(expected);
    if (fine()) get(value);
  }
  template <class T, class Variant>
  bool get_if(std::string_view kind, Variant& one_of) {
    if (kind != kind_of<T>) return false;
    get(one_of.template emplace<T>());
    return true;
  }
  /// Accepts only the form that `text` writes.
  template <class T>
  void get_parsed(T& value) {
    const std::string_view text = get_text();
    auto parsed = T::parse(text);
    if (!parsed || parsed->text() != text)
      return give_up(error_code::bad_format, "not a set of ranks in its usual form");
    value = std::move(*parsed);
  }
};

}  // namespace mpiacq::agents
