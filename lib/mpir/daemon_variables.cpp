// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "daemon_variables.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpir_variables.hpp"

namespace mpiacq::mpir {

namespace {

error lacks(const symbol_set& symbols) {
  std::string names;
  for (const known k : {known::executable_path, known::server_arguments}) {
    if (symbols.has(k)) continue;
    names += names.empty() ? "" : " and ";
    names += about(k).name;
  }
  return {error_code::unsupported,
          fmt::format("the starter cannot launch daemons: it has no {} (MPIR 1.1, 7.1)", names)};
}

/// The old bytes that a write will replace.
result<write_memory> as_it_is(memory_reader& memory, const write_memory& write) {
  write_memory before{write.address, std::vector<std::byte>(write.bytes.size()), write.what};
  if (auto read = read_exact(memory, before.address, before.bytes); !read) {
    return fail(std::move(read).error().while_doing(fmt::format("reading {}", about(write.what).name)));
  }
  return before;
}

}  // namespace

std::size_t capacity_of(known k, const symbol& variable) {
  return variable.size != 0 ? static_cast<std::size_t>(variable.size) : about(k).elements;
}

result<std::vector<write_memory>> daemon_variables::request(const target& starter, const symbol_set& symbols,
                                                            const daemon_request& daemons) {
  const auto& path = symbols[known::executable_path];
  const auto& arguments = symbols[known::server_arguments];
  if (!path || !arguments) return fail(lacks(symbols));
  auto path_bytes = TRY(encode_executable_path(daemons.path, capacity_of(known::executable_path, *path)));
  auto argument_bytes =
      TRY(encode_server_arguments(daemons.arguments, capacity_of(known::server_arguments, *arguments)));

  std::vector<write_memory> writes;
  writes.push_back({path->address(), std::move(path_bytes), known::executable_path});
  writes.push_back({arguments->address(), std::move(argument_bytes), known::server_arguments});
  if (const auto& forward = symbols[known::forward_output]; forward && daemons.forward_output) {
    auto one = TRY(integer_bytes(starter.abi, *forward, 1));
    writes.push_back({forward->address(), std::move(one), known::forward_output});
  }

  std::vector<write_memory> before;
  for (const write_memory& write : writes) {
    auto bytes = TRY(as_it_is(starter.memory, write));
    before.push_back(std::move(bytes));
  }
  std::move(before.begin(), before.end(), std::back_inserter(before_));
  return writes;
}

result<std::optional<daemon_variables::leftover>> daemon_variables::hide_leftover(const target& starter,
                                                                                  const symbol_set& symbols) {
  const auto& variable = symbols[known::executable_path];
  if (!variable) return std::nullopt;
  auto path = TRY(read_char_array(starter.memory, *variable, capacity_of(known::executable_path, *variable)));
  if (!path) return std::nullopt;
  leftover found{std::move(*path), {variable->address(), {std::byte{0}}, known::executable_path}};
  auto before = TRY(as_it_is(starter.memory, found.hide));
  before_.push_back(std::move(before));
  return found;
}

std::vector<write_memory> daemon_variables::put_back() {
  std::vector<write_memory> writes = std::exchange(before_, {});
  std::reverse(writes.begin(), writes.end());
  return writes;
}

}  // namespace mpiacq::mpir
