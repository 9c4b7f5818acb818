// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "c/c_target.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "c/c_structs.hpp"
#include "errors/try.hpp"

namespace mpiacq::mpir {

namespace {

target_abi abi_of(const mpiacq_target& given) {
  target_abi abi = abi_of_elf(given.pointer_size == 8 ? 2 : 1, given.big_endian != 0 ? 2 : 1, 0);
  if (given.int_size != 0) abi.int_size = given.int_size;
  return abi;
}

/// The error code that a callback returned. A code that callbacks may not return becomes `otherwise`.
error callback_failed(int code, error_code otherwise, std::string_view what) {
  const bool is_code = code > 0 && code <= code_of(error_code::system);
  return {is_code ? static_cast<error_code>(code - 1) : otherwise,
          fmt::format("the debugger's function for {} gave {}", what, code)};
}

}  // namespace

result<mpiacq_target> c_target::check(const mpiacq_target* given) {
  const auto known = known_part(given);
  if (!known) return fail(error_code::invalid_argument, "the target is NULL, or its struct_size is not set");
  if (known->pointer_size != 4 && known->pointer_size != 8) {
    return fail(error_code::invalid_argument,
                fmt::format("the target's pointer_size is {}: it can be 4 or 8", known->pointer_size));
  }
  const int size = known->int_size;
  if (size != 0 && size != 2 && size != 4 && size != 8) {
    return fail(error_code::invalid_argument, fmt::format("the target's int_size is {}: it can be 0, 2, 4 or 8", size));
  }
  if (known->read == nullptr || known->find_symbol == nullptr) {
    return fail(error_code::invalid_argument, "the target has no function to read memory, or none to find a symbol");
  }
  return *known;
}

c_target::c_target(const mpiacq_target& given)
    : given_(given),
      abi_(abi_of(given)),
      program_(std::make_shared<const module>(
          module{given.name != nullptr ? given.name : "the program", target_address{}, true, {}})) {}

result<void> c_target::read_ranges(std::span<memory_range> ranges) {
  std::vector<mpiacq_range> asked;
  asked.reserve(ranges.size());
  for (const memory_range& range : ranges) {
    asked.push_back({range.address.value(), range.into.data(), range.into.size(), 0});
  }
  const int code = given_.read(given_.context, asked.data(), asked.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    ranges[i].got = code == MPIACQ_OK ? std::min(asked[i].got, ranges[i].into.size()) : 0;
  }
  if (code == MPIACQ_OK) return {};
  error why = callback_failed(code, error_code::process_gone, "reading memory");
  // Only these two codes mean that nothing can be read. `got` reports a range that cannot be read.
  if (why.code != error_code::permission) why.code = error_code::process_gone;
  return fail(std::move(why));
}

result<void> c_target::write(target_address address, std::span<const std::byte> bytes) {
  const int code = given_.write(given_.context, address.value(), bytes.data(), bytes.size());
  if (code == MPIACQ_OK) return {};
  return fail(callback_failed(code, error_code::unreadable_memory,
                              fmt::format("writing {} bytes at {:#x}", bytes.size(), address.value()))
                  .at(address));
}

result<std::optional<symbol>> c_target::ask(std::string_view name) {
  const auto before = asked_.find(name);
  if (before != asked_.end()) return before->second;
  std::string terminated(name);
  mpiacq_symbol told{};
  const int code = given_.find_symbol(given_.context, terminated.c_str(), &told);
  if (code < 0) {
    return fail(error_code::system, fmt::format("the debugger's function for finding {} gave {}", name, code));
  }
  std::optional<symbol> found;
  if (code > 0) {
    found = symbol{terminated, program_, module_offset{told.address}, false, told.size, symbol_kind::other};
  }
  asked_.emplace(std::move(terminated), found);
  return found;
}

result<std::vector<std::optional<symbol>>> c_target::look_up(std::span<const std::string_view> names,
                                                             const symbol_scope& /*always everything*/) {
  std::vector<std::optional<symbol>> found;
  found.reserve(names.size());
  for (const std::string_view name : names) {
    auto one = TRY(ask(name));
    found.push_back(std::move(one));
  }
  return found;
}

result<std::optional<structure_layout>> c_target::layout_pointed_to_by(const symbol& /*MPIR_proctable*/,
                                                                       const symbol* /*near*/) {
  if (given_.descriptor_layout == nullptr) return std::nullopt;
  mpiacq_layout told{};
  told.struct_size = sizeof told;
  const int code = given_.descriptor_layout(given_.context, &told);
  if (code == 0) return std::nullopt;
  if (code < 0) {
    return fail(error_code::bad_format,
                fmt::format("the debugger's function for the layout of MPIR_PROCDESC gave {}", code));
  }
  const std::uint64_t pointer = abi_.pointer_size;
  structure_layout layout{"MPIR_PROCDESC",
                          told.size,
                          {{"host_name", told.host_name_offset, pointer, true, false},
                           {"executable_name", told.executable_name_offset, pointer, true, false},
                           {"pid", told.pid_offset, told.pid_size, false, true}},
                          layout_source::dwarf,
                          program_->path,
                          ""};
  return layout;
}

}  // namespace mpiacq::mpir
