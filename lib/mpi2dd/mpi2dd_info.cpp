// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/mpi2dd/mpi2dd_info.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpiacq/base/memory.hpp"

namespace mpiacq::mpi2dd {

namespace {

constexpr std::size_t largest_info = layout_of_info(8).size;
constexpr std::size_t version_at = 5;
constexpr std::size_t variant_at = 6;

/// Decodes the block's fields in their order.
class field_reader {
 public:
  field_reader(std::span<const std::byte> bytes, const target_abi& abi) : bytes_(bytes), abi_(abi) {}
  std::uint8_t byte() { return std::to_integer<std::uint8_t>(next(1)[0]); }
  std::uint32_t word() { return static_cast<std::uint32_t>(decode_unsigned(next(4), abi_.order)); }
  std::int32_t integer() { return static_cast<std::int32_t>(word()); }
  target_address address() { return target_address{decode_unsigned(next(abi_.pointer_size), abi_.order)}; }
  std::span<const std::byte> next(std::size_t size) {
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

 private:
  std::span<const std::byte> bytes_;
  const target_abi& abi_;
};

result<void> check(std::span<const std::byte> bytes, target_address address) {
  const auto same = [](std::uint8_t expected, std::byte is) { return std::byte{expected} == is; };
  if (!std::equal(magic.begin(), magic.end(), bytes.begin(), same)) {
    const bool is_empty = std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
    return fail(error{error_code::bad_format,
                      fmt::format("MPI2DD_info at {:#x} does not begin with its magic bytes: {}", address.value(),
                                  is_empty ? "it is all zeros, not filled yet" : "it is something else")}
                    .at(address));
  }
  if (const auto version = std::to_integer<unsigned>(bytes[version_at]); version != known_version) {
    return fail(error{error_code::unsupported,
                      fmt::format("MPI2DD_info at {:#x} has version {}; only version {} of the interface is known here",
                                  address.value(), version, known_version)}
                    .at(address + version_at));
  }
  return {};
}

info_block decode(std::span<const std::byte> bytes, const target_abi& abi) {
  field_reader in(bytes.subspan(version_at), abi);
  info_block b;
  b.version = in.byte();
  b.variant = in.byte();
  b.state = static_cast<debug_state>(in.byte());
  b.debugger_flags = flag_set<debugger_flag>{in.word()};
  b.mpi_flags = flag_set<mpi_flag>{in.word()};
  for (target_address* field : {&b.dll_name_32, &b.dll_name_64, &b.meta_host_name, &b.meta_executable_name,
                                &b.abort_string, &b.proctable, &b.directory_table, &b.metadirectory_table}) {
    *field = in.address();
  }
  for (std::int32_t* field : {&b.proctable_size, &b.directory_size, &b.metadirectory_size, &b.meta_pid}) {
    *field = in.integer();
  }
  std::ranges::copy(in.next(b.padding.size()), b.padding.begin());
  return b;
}

struct string_field {
  std::string_view name;
  target_address info_block::*address;
  std::optional<std::string> process_info::*text;
};
constexpr std::array<string_field, 5> string_fields = {{
    {"dll_name_32", &info_block::dll_name_32, &process_info::queue_library_32},
    {"dll_name_64", &info_block::dll_name_64, &process_info::queue_library_64},
    {"meta_host_name", &info_block::meta_host_name, &process_info::meta_host},
    {"meta_executable_name", &info_block::meta_executable_name, &process_info::meta_executable},
    {"abort_string", &info_block::abort_string, &process_info::abort_reason},
}};

error unread(const string_field& field, const visited_string& s, target_address begins) {
  if (s.what == string_outcome::unreadable) {
    return error{error_code::unreadable_memory,
                 fmt::format("{} of MPI2DD_info: the string at {:#x} cannot be read at {:#x}", field.name,
                             begins.value(), s.stopped_at.value())}
        .at(s.stopped_at);
  }
  return error{error_code::limit, fmt::format("{} of MPI2DD_info: the string at {:#x} has no end within {} bytes",
                                              field.name, begins.value(), max_info_string)}
      .at(begins);
}

result<void> read_strings(memory_reader& memory, process_info& info) {
  std::vector<target_address> addresses;
  std::vector<const string_field*> fields;
  for (const string_field& field : string_fields) {
    if ((info.block.*field.address).is_null()) continue;
    addresses.push_back(info.block.*field.address);
    fields.push_back(&field);
  }
  const string_limits limits{max_info_string, string_fields.size() * max_info_string};
  return visit_c_strings(memory, addresses, limits, [&](const visited_string& s) {
    if (s.what == string_outcome::ok) {
      info.*fields[s.index]->text = std::string{s.text};
    } else {
      info.warnings.push_back(unread(*fields[s.index], s, addresses[s.index]));
    }
  });
}

void warn(const symbol& info_symbol_found, std::size_t size, process_info& info) {
  if (info.block.variant != known_variant) {
    info.warnings.push_back(
        error{error_code::unsupported,
              fmt::format("MPI2DD_info at {:#x} is of variant {}, whose layout may differ from that of the draft "
                          "(variant {}); it is read with the layout of the draft",
                          info.address.value(), info.block.variant, known_variant)}
            .at(info.address + variant_at));
  }
  if (info_symbol_found.size != 0 && info_symbol_found.size != size) {
    info.warnings.push_back(error{error_code::bad_format,
                                  fmt::format("the symbol MPI2DD_info has {} bytes, where the draft's structure has {}",
                                              info_symbol_found.size, size)}
                                .at(info.address));
  }
}

}  // namespace

result<std::optional<symbol>> find_info(const target& process) {
  return process.symbols.find_symbol(info_symbol);
}

result<info_block> read_info_block(const target& process, target_address address) {
  if (process.abi.pointer_size != 4 && process.abi.pointer_size != 8) {
    return fail(error_code::unsupported,
                fmt::format("MPI2DD is not defined for addresses of {} bytes", unsigned{process.abi.pointer_size}));
  }
  std::array<std::byte, largest_info> buffer{};
  const std::span<std::byte> bytes{buffer.data(), layout_of_info(process.abi.pointer_size).size};
  if (auto read = read_exact(process.memory, address, bytes); !read) {
    return fail(std::move(read).error().while_doing("reading MPI2DD_info"));
  }
  TRY(check(bytes, address));
  return decode(bytes, process.abi);
}

result<process_info> read_info(const target& process, const symbol& found) {
  auto block = TRY(read_info_block(process, found.address()));
  process_info info;
  info.address = found.address();
  info.block = block;
  warn(found, layout_of_info(process.abi.pointer_size).size, info);
  if (auto read = read_strings(process.memory, info); !read) {
    return fail(std::move(read).error().while_doing("reading the strings of MPI2DD_info"));
  }
  return info;
}

result<std::optional<process_info>> read_info(const target& process) {
  auto found = TRY(find_info(process));
  if (!found) return std::nullopt;
  return TRY(read_info(process, *found));
}

}  // namespace mpiacq::mpi2dd
