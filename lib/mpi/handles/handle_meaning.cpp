// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "handles/handle_meaning.hpp"

namespace mpiacq {

namespace {

using handle = mpi_handle_kind;

/// MPICH's handles: bits 30 and 31 tell how the object is stored (0: no object), bits 26 to 29 its kind. A basic
/// datatype has its size in bits 8 to 15 and its number in bits 0 to 7.
namespace mpich_handle {

constexpr std::uint32_t stored(std::uint32_t bits) {
  return bits >> 30U;
}
constexpr std::uint32_t kind_number(std::uint32_t bits) {
  return (bits >> 26U) & 0xfU;
}
constexpr std::uint32_t size_mask = 0xff00;
constexpr bool is_basic_datatype(std::uint32_t bits) {
  return bits >> 16U == 0x4c00;
}
constexpr std::uint32_t size_of(std::uint32_t bits) {
  return (bits & size_mask) >> 8U;
}

std::uint32_t number_of(handle what) {
  switch (what) {
    case handle::communicator:
      return 1;
    case handle::group:
      return 2;
    case handle::datatype:
      return 3;
    case handle::file:
      return 4;
    case handle::error_handler:
      return 5;
    case handle::operation:
      return 6;
    case handle::info:
      return 7;
    case handle::window:
      return 8;
    case handle::request:
    case handle::message:
      return 11;
    case handle::session:
      return 14;
  }
  return 0;
}

}  // namespace mpich_handle

bool is_address(handle what, const handle_context& context) {
  if (context.language == mpi_language::fortran) return false;
  return context.abi != mpi_abi::mpich || what == handle::file;
}

std::uint64_t cut(std::uint64_t value, std::size_t bytes) {
  return bytes >= 8 ? value : value & ((std::uint64_t{1} << (bytes * 8)) - 1);
}

bool is_row_of_mpich(const predefined_handle& row, std::uint64_t value) {
  if (row.mpich == predefined_handle::none) return false;
  const auto listed = static_cast<std::uint32_t>(row.mpich);
  const auto given = static_cast<std::uint32_t>(value);
  if (!mpich_handle::is_basic_datatype(listed)) return listed == value;
  return (listed & ~mpich_handle::size_mask) == (given & ~mpich_handle::size_mask);
}

bool is_number(std::int64_t listed, std::uint64_t value) {
  return listed != predefined_handle::none && static_cast<std::uint64_t>(listed) == value;
}

const predefined_handle* find_row(handle what, std::uint64_t value, const handle_context& context) {
  const bool by_symbol = context.abi == mpi_abi::openmpi && context.language == mpi_language::c;
  const std::string symbol = by_symbol && context.symbol_at ? context.symbol_at(value) : "";
  for (const predefined_handle& row : predefined_handles()) {
    if (row.kind != what) continue;
    switch (context.abi) {
      case mpi_abi::mpich:
        if (is_row_of_mpich(row, value)) return &row;
        break;
      case mpi_abi::standard:
        if (is_number(row.standard, value)) return &row;
        break;
      case mpi_abi::openmpi:
        if (by_symbol ? !symbol.empty() && row.openmpi == symbol : is_number(row.openmpi_fortran, value)) return &row;
        break;
      case mpi_abi::unknown:
        return nullptr;
    }
  }
  return nullptr;
}

bool may_be_mpich(handle what, std::uint64_t value) {
  const auto bits = static_cast<std::uint32_t>(value);
  return mpich_handle::stored(bits) != 0 && mpich_handle::kind_number(bits) == mpich_handle::number_of(what);
}
bool may_be_object(std::uint64_t value, const handle_context& context) {
  return value >= 0x1000 && value % context.address_bytes == 0;
}
bool may_be_index(std::uint64_t value) {
  return static_cast<std::int32_t>(value) >= 0;
}

/// Whether the MPI can have a handle with this value that is not predefined.
bool may_be_own(handle what, std::uint64_t value, const handle_context& context) {
  switch (context.abi) {
    case mpi_abi::unknown:
      return true;
    case mpi_abi::standard:
      return value >= 0x400;  // smaller numbers are for predefined handles
    case mpi_abi::mpich:
      if (what != handle::file) return may_be_mpich(what, value);
      break;
    case mpi_abi::openmpi:
      break;
  }
  return is_address(what, context) ? may_be_object(value, context) : may_be_index(value);
}

std::optional<std::uint32_t> bytes_of_row(const predefined_handle& row, const handle_context& context) {
  if (row.bytes == 0) return std::nullopt;
  return row.bytes == predefined_handle::address_size ? context.address_bytes : row.bytes;
}

std::optional<std::uint32_t> bytes_of_element(const predefined_handle* row, std::uint64_t value,
                                              const handle_context& context) {
  const auto bits = static_cast<std::uint32_t>(value);
  const bool told = context.abi == mpi_abi::mpich && mpich_handle::is_basic_datatype(bits);
  if (told && mpich_handle::size_of(bits) > 0) return mpich_handle::size_of(bits);
  return row == nullptr || told ? std::nullopt : bytes_of_row(*row, context);
}

}  // namespace

std::size_t handle_bytes(mpi_handle_kind what, const handle_context& context) {
  return is_address(what, context) ? context.address_bytes : 4;
}

handle_meaning meaning_of_handle(mpi_handle_kind what, std::uint64_t value, const handle_context& context) {
  value = cut(value, handle_bytes(what, context));
  handle_meaning found;
  const predefined_handle* row = find_row(what, value, context);
  found.is_possible = row != nullptr || may_be_own(what, value, context);
  if (row != nullptr) {
    found.name = row->name;
    found.is_null = row->name.ends_with("_NULL");
  }
  if (what == handle::datatype) found.bytes = bytes_of_element(row, value, context);
  return found;
}

}  // namespace mpiacq
