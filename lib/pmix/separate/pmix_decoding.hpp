// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// From the structures of a PMIx library to values of ours.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "separate/pmix_abi.hpp"
#include "separate/pmix_messages.hpp"

namespace mpiacq::pmix {

/// What a library gives: `count` structures at `first`. Empty if the pointer is null.
[[nodiscard]] std::span<const abi::info> infos_at(const abi::info* first, std::size_t count);

/// A string of the library; no more than `most` bytes. Empty for a null pointer.
[[nodiscard]] std::optional<std::string> text_at(const char* text, std::size_t most);

/// A process that a structure names; empty for a null pointer.
[[nodiscard]] std::optional<process_name> process_at(const abi::proc* process);

/// The namespaces in the answer to PMIX_QUERY_NAMESPACES: names that are separated by commas. Error: bad_format (the
/// answer has another type, is too long or lists too many).
[[nodiscard]] result<std::vector<std::string>> namespaces_in(std::span<const abi::info> answer);

/// The rows in the answer to PMIX_QUERY_PROC_TABLE, as the library holds them. Error: bad_format (the answer has
/// another type, its array has, or has no address, or claims more than `most_rows`).
[[nodiscard]] result<std::span<const abi::proc_info>> rows_in(std::span<const abi::info> answer);
inline constexpr std::size_t most_rows = std::size_t{1} << 24U;

/// A row of `nspace`; empty if it belongs to another namespace.
[[nodiscard]] std::optional<process_row> row_of(const abi::proc_info& row, std::string_view nspace);

/// PMIX_EVENT_AFFECTED_PROC in what an event says about itself.
[[nodiscard]] std::optional<process_name> affected_in(std::span<const abi::info> about);

/// A structure with a string. The text must stay as long as the structure.
void set_text(abi::info& into, const char* key, std::string& text);
void set_flag(abi::info& into, const char* key);
void set_number(abi::info& into, const char* key, std::uint16_t number);
void set_process(abi::info& into, const char* key, abi::proc& process);
void set_name(abi::proc& into, const process_name& name);

}  // namespace mpiacq::pmix
