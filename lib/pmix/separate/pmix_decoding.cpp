// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "separate/pmix_decoding.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace mpiacq::pmix {

namespace {

/// An answer has one structure for each key that was asked for. An event has a few.
constexpr std::size_t most_infos = 4096;

bool is_key(const abi::info& one, const char* key) {
  return std::strncmp(one.key, key, sizeof one.key) == 0;
}

bool is_aligned(const void* address, std::size_t to) {
  return reinterpret_cast<std::uintptr_t>(address) % to == 0;
}

error not_asked_for(const char* what) {
  return {error_code::bad_format, std::string{"the PMIx library's answer about "} + what +
                                      " is not of the type that the PMIx Standard gives it"};
}

void set_key(abi::info& into, const char* key) {
  into = abi::info{};
  std::strncpy(into.key, key, sizeof into.key - 1);
}

}  // namespace

std::span<const abi::info> infos_at(const abi::info* first, std::size_t count) {
  if (first == nullptr || !is_aligned(first, alignof(abi::info))) return {};
  return {first, std::min(count, most_infos)};
}

std::optional<std::string> text_at(const char* text, std::size_t most) {
  if (text == nullptr) return std::nullopt;
  return std::string(text, ::strnlen(text, most));
}

std::optional<process_name> process_at(const abi::proc* process) {
  if (process == nullptr || !is_aligned(process, alignof(abi::proc))) return std::nullopt;
  return process_name{std::string(process->nspace, ::strnlen(process->nspace, sizeof process->nspace)), process->rank};
}

result<std::vector<std::string>> namespaces_in(std::span<const abi::info> answer) {
  const char* what = "its namespaces";
  if (answer.empty()) return std::vector<std::string>{};
  const abi::value& value = answer.front().value;
  if (value.type != abi::data_type::string) return fail(not_asked_for(what));
  if (value.data.text == nullptr) return std::vector<std::string>{};
  const std::size_t length = ::strnlen(value.data.text, longest_namespace_list + 1);
  if (length > longest_namespace_list) return fail(not_asked_for(what));
  std::string_view rest(value.data.text, length);
  std::vector<std::string> names;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    if (one.empty()) continue;
    if (one.size() > abi::longest_namespace || names.size() == most_namespaces) return fail(not_asked_for(what));
    names.emplace_back(one);
  }
  return names;
}

result<std::span<const abi::proc_info>> rows_in(std::span<const abi::info> answer) {
  const char* what = "a process table";
  if (answer.empty()) return std::span<const abi::proc_info>{};
  const abi::value& value = answer.front().value;
  if (value.type != abi::data_type::data_array) return fail(not_asked_for(what));
  const abi::data_array* array = value.data.array;
  if (array == nullptr || !is_aligned(array, alignof(abi::data_array))) return fail(not_asked_for(what));
  if (array->size == 0) return std::span<const abi::proc_info>{};
  const bool is_usable = array->type == abi::data_type::proc_info && array->array != nullptr &&
                         is_aligned(array->array, alignof(abi::proc_info)) && array->size <= most_rows;
  if (!is_usable) return fail(not_asked_for(what));
  return std::span{static_cast<const abi::proc_info*>(array->array), array->size};
}

std::optional<process_row> row_of(const abi::proc_info& row, std::string_view nspace) {
  const std::string_view own(row.proc.nspace, ::strnlen(row.proc.nspace, sizeof row.proc.nspace));
  if (own != nspace) return std::nullopt;
  return process_row{row.proc.rank, text_at(row.hostname, longest_text), text_at(row.executable_name, longest_text),
                     row.pid, row.state};
}

std::optional<process_name> affected_in(std::span<const abi::info> about) {
  for (const abi::info& one : about) {
    if (is_key(one, abi::event_affected) && one.value.type == abi::data_type::proc) {
      return process_at(one.value.data.process);
    }
  }
  return std::nullopt;
}

void set_text(abi::info& into, const char* key, std::string& text) {
  set_key(into, key);
  into.value.type = abi::data_type::string;
  into.value.data.text = text.data();
}

void set_flag(abi::info& into, const char* key) {
  set_key(into, key);
  into.value.type = abi::data_type::boolean;
  into.value.data.flag = true;
}

void set_number(abi::info& into, const char* key, std::uint16_t number) {
  set_key(into, key);
  into.value.type = abi::data_type::uint16;
  into.value.data.number = number;
}

void set_process(abi::info& into, const char* key, abi::proc& process) {
  set_key(into, key);
  into.value.type = abi::data_type::proc;
  into.value.data.process = &process;
}

void set_name(abi::proc& into, const process_name& name) {
  into = abi::proc{};
  std::strncpy(into.nspace, name.nspace.c_str(), sizeof into.nspace - 1);
  into.rank = name.rank;
}

}  // namespace mpiacq::pmix
