// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fake_memory.hpp"
#include "mpiacq/base/abi.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq::test {

/// The four kinds of Linux target that a table can come from.
inline const target_abi lp64_little = abi_of_elf(2, 1, 62);  // x86-64
inline const target_abi lp64_big = abi_of_elf(2, 2, 22);     // s390x
inline const target_abi ilp32_little = abi_of_elf(1, 1, 3);  // i386
inline const target_abi ilp32_big = abi_of_elf(1, 2, 8);     // mips
inline const target_abi every_abi[] = {lp64_little, lp64_big, ilp32_little, ilp32_big};

inline std::string abi_title(const target_abi& abi) {
  return std::string(abi.pointer_size == 8 ? "LP64" : "ILP32") + (abi.order == byte_order::little ? " little" : " big");
}

/// Symbols and types that a test defines. It counts the requests.
class fake_symbols final : public symbol_source {
 public:
  void define(const std::string& name, target_address where, std::uint64_t size = 0,
              symbol_kind kind = symbol_kind::data) {
    defined_[name] = {name, home, module_offset{where.value() - home->bias.value()}, false, size, kind};
  }
  void define_absolute(const std::string& name, std::uint64_t value) {
    defined_[name] = {name, home, module_offset{value}, true, 0, symbol_kind::data};
  }
  void remove(const std::string& name) { defined_.erase(name); }

  result<std::vector<std::optional<symbol>>> look_up(std::span<const std::string_view> names,
                                                     const symbol_scope& scope) override {
    scopes.push_back(scope);
    if (find_error) return fail(*find_error);
    std::vector<std::optional<symbol>> found;
    for (const std::string_view name : names) {
      const auto at = defined_.find(std::string(name));
      found.push_back(at == defined_.end() ? std::nullopt : std::optional(at->second));
    }
    return found;
  }

  result<std::optional<structure_layout>> layout_pointed_to_by(const symbol& variable, const symbol* near) override {
    asked_variable = variable.name;
    asked_near = near == nullptr ? "" : near->name;
    if (layout_error) return fail(*layout_error);
    return layout;
  }

  result<std::optional<structure_layout>> structure_named(std::string_view tag, const symbol& near) override {
    asked_variable = tag;
    asked_near = near.name;
    if (layout_error) return fail(*layout_error);
    return structure;
  }

  std::shared_ptr<module> home = std::make_shared<module>(module{
      "/usr/lib/libstarter.so", target_address{0x10000}, false, {std::byte{0xab}, std::byte{0xcd}, std::byte{0xef}}});
  std::optional<structure_layout> layout;     ///< the type from debug information; empty: there is none
  std::optional<structure_layout> structure;  ///< the type of a structure with any tag
  std::optional<error> layout_error;
  std::optional<error> find_error;
  std::vector<symbol_scope> scopes;  ///< the scope of each look-up
  std::string asked_variable;
  std::string asked_near;

 private:
  std::map<std::string, symbol> defined_;
};

/// One process descriptor with its values as a fake starter's C code holds them.
struct fake_entry {
  target_address host_name;
  target_address executable_name;
  std::int64_t pid = 0;
};

/// A starter that a test fills: memory, ABI, symbols, and a table in any layout. Variables begin at 0x20000, strings at
/// 0x41000000 (so that the lower half of an address is no pid), and the table at the address that the test chooses. All
/// are below 2^32, so that they suit every ABI.
class fake_starter {
 public:
  static constexpr target_address variables{0x20000};
  static constexpr target_address strings{0x41000000};
  static constexpr target_address table{0x4000000};

  explicit fake_starter(const target_abi& a = lp64_little) : abi(a) {
    memory.map(variables, std::vector<std::byte>(4096));
    layout = {"MPIR_PROCDESC",
              3ULL * a.pointer_size,
              {{"host_name", 0, a.pointer_size, true, false},
               {"executable_name", a.pointer_size, a.pointer_size, true, false},
               {"pid", 2ULL * a.pointer_size, 4, false, true}},
              layout_source::dwarf,
              "/usr/lib/libstarter.so",
              ""};
  }

  /// The interface as most starters define it.
  void define_interface() {
    symbols.define("MPIR_Breakpoint", target_address{0x12340}, 21, symbol_kind::function);
    variable("MPIR_debug_state", 4);
    variable("MPIR_proctable_size", 4);
    variable("MPIR_proctable", abi.pointer_size);
    variable("MPIR_being_debugged", 4);
    variable("MPIR_i_am_starter", 4);
  }

  /// Adds a variable of `size` zero bytes. If `symbol_size` is given, its symbol has that size.
  target_address variable(const std::string& name, std::size_t size, std::optional<std::uint64_t> symbol_size = {}) {
    const target_address where = variables + next_variable_;
    next_variable_ += (size + 15) / 16 * 16;
    symbols.define(name, where, symbol_size.value_or(size));
    places_[name] = {where, size};
    return where;
  }
  void set(const std::string& name, std::int64_t value) {
    poke(places_.at(name).first, value, places_.at(name).second);
  }
  void poke(target_address where, std::int64_t value, std::size_t size) {
    std::vector<std::byte> bytes(size);
    encode_integer(static_cast<std::uint64_t>(value), abi.order, bytes);
    (void)memory.write(where, bytes);
  }
  std::int64_t get(const std::string& name) {
    std::vector<std::byte> bytes(places_.at(name).second);
    (void)read_exact(memory, places_.at(name).first, bytes);
    return decode_signed(bytes, abi.order);
  }

  /// Puts a string into memory, directly behind the one before.
  target_address string(std::string_view text) {
    const target_address where = strings + string_bytes_.size();
    string_bytes_.append(text).push_back('\0');
    strings_changed_ = true;
    return where;
  }
  /// Leaves `bytes` bytes of other data between two strings.
  void skip(std::size_t bytes) { string_bytes_.append(bytes, '#'); }
  [[nodiscard]] std::size_t string_bytes() const { return string_bytes_.size(); }

  /// Descriptors in this starter's layout. Padding holds garbage, as behind a 4-byte pid in real starters.
  [[nodiscard]] std::vector<std::byte> encode(const std::vector<fake_entry>& entries) const {
    std::vector<std::byte> bytes(entries.size() * layout.size, std::byte{0xab});
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto put = [&](std::string_view field, std::uint64_t value) {
        const structure_member* member = layout.find(field);
        if (member != nullptr) {
          encode_integer(value, abi.order, std::span{bytes}.subspan(i * layout.size + member->offset, member->size));
        }
      };
      put("host_name", entries[i].host_name.value());
      put("executable_name", entries[i].executable_name.value());
      put("pid", static_cast<std::uint64_t>(entries[i].pid));
    }
    return bytes;
  }

  /// Maps the table and the strings.
  void put_table(const std::vector<fake_entry>& entries, target_address where = table) {
    memory.map(where, encode(entries));
    if (!string_bytes_.empty() && strings_changed_) memory.map(strings, string_bytes_);
    strings_changed_ = false;
  }
  /// Maps the table and sets the variables to it.
  void publish(const std::vector<fake_entry>& entries, target_address where = table) {
    put_table(entries, where);
    set("MPIR_proctable", static_cast<std::int64_t>(where.value()));
    set("MPIR_proctable_size", static_cast<std::int64_t>(entries.size()));
    set("MPIR_debug_state", 1);
  }

  [[nodiscard]] target as_target() { return {memory, &memory, abi, symbols}; }

  target_abi abi;
  fake_memory memory;
  fake_symbols symbols;
  structure_layout layout;  ///< how the table is encoded

 private:
  std::map<std::string, std::pair<target_address, std::size_t>> places_;
  std::size_t next_variable_ = 0;
  std::string string_bytes_;
  bool strings_changed_ = false;
};

}  // namespace mpiacq::test
