// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "library/target_answers.hpp"

#include <algorithm>
#include <cctype>

namespace mpiacq::mqd_host {

namespace {

/// Bounds a library that asks for types without end; real ones ask for about twenty.
constexpr std::size_t most_types = 100'000;

/// Whether an error ends the session: the whole process is unreadable, and not only one module or address.
bool is_the_end(const error& e) {
  return e.code == error_code::process_gone || e.code == error_code::permission;
}

std::string lower(std::string_view name) {
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string upper(std::string_view name) {
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

/// The symbols that compilers make from a Fortran name: gfortran and most others, g77 for a name with an underscore,
/// IBM's compilers, Cray's, and the unchanged name.
std::vector<std::string> symbols_of(std::string_view name, source_language language) {
  if (language == source_language::c) return {std::string(name)};
  return {lower(name) + "_", lower(name) + "__", lower(name), upper(name), std::string(name)};
}

}  // namespace

target_answers::target_answers(const queue_subject& subject)
    : process_(subject.process), types_(subject.types), memory_(subject.process.memory) {}

result<target_answers::address_or_none> target_answers::first_of(std::span<const std::string> names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  auto found = process_.symbols.find_symbols(views);
  if (!found) {
    if (is_the_end(found.error())) return fail(std::move(found.error()));
    return std::nullopt;
  }
  for (const auto& symbol : *found) {
    if (symbol) return symbol->address().value();
  }
  return std::nullopt;
}

result<std::optional<std::uint64_t>> target_answers::find_function(std::string_view name, source_language language) {
  const std::pair key(std::string(name), language);
  if (const auto known = functions_.find(key); known != functions_.end()) return known->second;
  auto found = first_of(symbols_of(name, language));
  if (found) functions_.emplace(key, *found);
  return found;
}

result<std::optional<std::uint64_t>> target_answers::find_symbol(std::string_view name) {
  if (const auto known = symbols_.find(name); known != symbols_.end()) return known->second;
  const std::string names[] = {std::string(name)};
  auto found = first_of(names);
  if (found) symbols_.emplace(name, *found);
  return found;
}

result<std::optional<type_number>> target_answers::find_type(std::string_view name, source_language language) {
  const std::pair key(std::string(name), language);
  if (const auto known = type_numbers_.find(key); known != type_numbers_.end()) return known->second;
  if (layouts_.size() >= most_types) return std::nullopt;
  auto layout = types_.type_named(name, language);
  if (!layout && is_the_end(layout.error())) return fail(std::move(layout.error()));
  std::optional<type_number> number;
  if (layout && *layout) {
    number = static_cast<type_number>(layouts_.size());
    layouts_.push_back(std::move(**layout));
  }
  type_numbers_.emplace(key, number);
  return number;
}

result<std::int64_t> target_answers::field_offset(type_number type, std::string_view field) {
  constexpr std::int64_t absent = -1;
  if (type >= layouts_.size()) return absent;
  const structure_member* member = layouts_[type].find(field);
  if (member == nullptr || member->offset > static_cast<std::uint64_t>(INT64_MAX)) return absent;
  return static_cast<std::int64_t>(member->offset);
}

result<std::uint64_t> target_answers::type_size(type_number type) {
  return type < layouts_.size() ? layouts_[type].size : 0;
}

result<bool> target_answers::fetch(std::uint64_t address, std::span<std::byte> into) {
  auto got = read_exact(memory_, target_address{address}, into);
  if (got) return true;
  if (is_the_end(got.error())) return fail(std::move(got.error()));
  return false;
}

}  // namespace mpiacq::mqd_host
