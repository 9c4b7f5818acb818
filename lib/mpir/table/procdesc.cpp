// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "table/procdesc.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpiacq/job/process_table.hpp"

namespace mpiacq {

namespace {

constexpr std::uint64_t largest_stride = 65536;

std::string title(const structure_layout& layout) {
  return layout.name.empty() ? "the process descriptor's structure"
                             : fmt::format("the process descriptor's structure {}", layout.name);
}

/// The source of the layout, for error messages.
std::string origin(const structure_layout& layout) {
  const std::string& file = layout.debug_file.empty() ? layout.module_path : layout.debug_file;
  return file.empty() ? std::string(name(layout.source)) : fmt::format("{}, {}", name(layout.source), file);
}

result<const structure_member*> find_member(const structure_layout& layout, std::string_view member) {
  const structure_member* found = layout.find(member);
  if (found == nullptr) {
    return fail(error_code::bad_format,
                fmt::format("{} ({}) has no member {}: MPIR 1.1, 9.2, requires host_name, executable_name and pid",
                            title(layout), origin(layout), member));
  }
  if (found->size > layout.size || found->offset > layout.size - found->size) {
    return fail(error_code::bad_format,
                fmt::format("{} ({}) has {} bytes, but its member {} is said to be {} bytes at offset {}",
                            title(layout), origin(layout), layout.size, member, found->size, found->offset));
  }
  return found;
}

result<std::size_t> find_string(const target_abi& abi, const structure_layout& layout, std::string_view member) {
  const auto found = TRY(find_member(layout, member));
  if (!found->is_pointer || found->size != abi.pointer_size) {
    return fail(error_code::bad_format, fmt::format("member {} of {} ({}) is not a pointer of {} bytes but {} of {}",
                                                    member, title(layout), origin(layout), abi.pointer_size,
                                                    found->is_pointer ? "one" : "something else", found->size));
  }
  return static_cast<std::size_t>(found->offset);
}

}  // namespace

result<descriptor> resolve_descriptor(const target_abi& abi, const structure_layout& layout) {
  if (abi.pointer_size != 4 && abi.pointer_size != 8) {
    return fail(error_code::invalid_argument, fmt::format("pointers of {} bytes are not supported", abi.pointer_size));
  }
  if (layout.size == 0 || layout.size > largest_stride) {
    return fail(error_code::bad_format, fmt::format("{} ({}) is said to have {} bytes: it must have 1 to {}",
                                                    title(layout), origin(layout), layout.size, largest_stride));
  }
  const auto host = TRY(find_string(abi, layout, "host_name"));
  const auto executable = TRY(find_string(abi, layout, "executable_name"));
  const auto pid = TRY(find_member(layout, "pid"));
  if (pid->is_pointer || pid->size < 2 || pid->size > 8) {
    return fail(error_code::bad_format,
                fmt::format("member pid of {} ({}) is {} of {} bytes: it must be an integer of 2 to 8", title(layout),
                            origin(layout), pid->is_pointer ? "a pointer" : "something", pid->size));
  }
  descriptor d;
  d.stride = static_cast<std::size_t>(layout.size);
  d.host_name = host;
  d.executable_name = executable;
  d.pid = static_cast<std::size_t>(pid->offset);
  d.pid_size = static_cast<std::size_t>(pid->size);
  d.pid_signed = pid->is_signed;
  d.pointer_size = abi.pointer_size;
  d.order = abi.order;
  d.needed = std::max({d.host_name + d.pointer_size, d.executable_name + d.pointer_size, d.pid + d.pid_size});
  return d;
}

std::uint64_t entries_that_fit(const descriptor& d, target_address base) {
  const std::uint64_t last = d.pointer_size == 4 ? UINT32_MAX : UINT64_MAX;
  if (base.value() > last || last - base.value() < d.needed) return 0;
  return (last - base.value() - d.needed) / d.stride + 1;
}

std::string describe(const descriptor& d) {
  return fmt::format("host_name at {}, executable_name at {}, pid at {}, {} bytes each", d.host_name, d.executable_name,
                     d.pid, d.stride);
}

structure_layout inferred_descriptor_layout(const target_abi& abi) {
  const std::uint64_t pointer = abi.pointer_size;
  const std::uint64_t pid_end = 2 * pointer + abi.int_size;
  structure_layout layout;
  layout.name = "MPIR_PROCDESC";
  layout.size = (pid_end + pointer - 1) / pointer * pointer;  // an array keeps its pointers aligned
  layout.source = layout_source::inferred;
  layout.members = {{"host_name", 0, pointer, true, false},
                    {"executable_name", pointer, pointer, true, false},
                    {"pid", 2 * pointer, abi.int_size, false, true}};
  return layout;
}

}  // namespace mpiacq
