// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpir_variables.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "errors/try.hpp"

namespace mpiacq::mpir {

namespace {

constexpr std::size_t longest_string = 32768;

std::string where(const symbol& variable) {
  return variable.home ? fmt::format("{} in {}", variable.name, variable.home->path) : variable.name;
}

error&& on_variable(error&& e, const symbol& variable) {
  return std::move(e).while_doing(fmt::format("reading {}", where(variable)));
}

}  // namespace

result<std::size_t> integer_width(const target_abi& abi, const symbol& variable) {
  switch (variable.size) {
    case 0:
      return abi.int_size;
    case 1:
    case 2:
    case 4:
    case 8:
      return static_cast<std::size_t>(variable.size);
    default:
      return fail(error{error_code::bad_format, fmt::format("{} has {} bytes by its symbol: it should be an int",
                                                            where(variable), variable.size)}
                      .at(variable.address()));
  }
}

result<std::int64_t> read_integer(memory_reader& memory, const target_abi& abi, const symbol& variable) {
  const auto width = TRY(integer_width(abi, variable));
  auto value = read_signed(memory, abi, variable.address(), width);
  if (!value) return fail(on_variable(std::move(value).error(), variable));
  return value;
}

result<target_address> read_pointer_variable(memory_reader& memory, const target_abi& abi, const symbol& variable) {
  if (variable.size != 0 && variable.size != abi.pointer_size) {
    return fail(error{error_code::bad_format, fmt::format("{} has {} bytes by its symbol: it should be a pointer of {}",
                                                          where(variable), variable.size, abi.pointer_size)}
                    .at(variable.address()));
  }
  auto value = read_pointer(memory, abi, variable.address());
  if (!value) return fail(on_variable(std::move(value).error(), variable));
  return value;
}

result<std::vector<std::byte>> integer_bytes(const target_abi& abi, const symbol& variable, std::uint64_t value) {
  const auto width = TRY(integer_width(abi, variable));
  std::vector<std::byte> bytes(width);
  encode_integer(value, abi.order, bytes);
  return bytes;
}

result<std::optional<std::string>> read_char_array(memory_reader& memory, const symbol& variable,
                                                   std::size_t capacity) {
  std::vector<std::byte> bytes(std::min(capacity, longest_string));
  if (auto read = read_exact(memory, variable.address(), bytes); !read) {
    return fail(on_variable(std::move(read).error(), variable));
  }
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
  if (end == bytes.begin()) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(end - bytes.begin()));
}

result<std::optional<std::string>> read_string_variable(memory_reader& memory, const target_abi& abi,
                                                        const symbol& variable) {
  if (variable.size != 0 && variable.size != abi.pointer_size) {
    return read_char_array(memory, variable, static_cast<std::size_t>(variable.size));
  }
  const auto pointer = TRY(read_pointer_variable(memory, abi, variable));
  if (pointer.is_null()) return std::nullopt;
  auto pointed_to = read_c_string(memory, pointer, longest_string);
  if (!pointed_to) return fail(on_variable(std::move(pointed_to).error(), variable));
  if (pointed_to->empty()) return std::nullopt;
  return std::move(*pointed_to);
}

}  // namespace mpiacq::mpir
