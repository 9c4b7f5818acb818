// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/proc_text.hpp"

#include <charconv>

namespace mpiacq {

namespace {

/// The fields behind the name, by their numbers in proc_pid_stat(5).
class stat_fields {
 public:
  explicit stat_fields(std::string_view rest) {
    for (std::size_t field = first; field < all_.size() && !rest.empty(); ++field) {
      all_[field] = rest.substr(0, rest.find_first_of(" \n"));
      rest.remove_prefix(std::min(all_[field].size() + 1, rest.size()));
    }
  }
  [[nodiscard]] std::string_view text(std::size_t field) const { return all_[field]; }
  [[nodiscard]] std::optional<std::uint64_t> number(std::size_t field) const {
    const std::string_view text = all_[field];
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc{} && end == text.data() + text.size() ? std::optional{value} : std::nullopt;
  }

 private:
  static constexpr std::size_t first = 3;
  std::array<std::string_view, 52> all_;
};

}  // namespace

run_state process_stat::run() const {
  switch (state) {
    case 'T':
      return run_state::stopped;
    case 't':
      return run_state::traced;
    case 'Z':
    case 'X':
    case 'x':
      return run_state::gone;
    default:
      return run_state::running;
  }
}

std::optional<process_stat> parse_process_stat(std::string_view stat) {
  // "PID (name) S ...": the name may contain ") " itself, so the last one ends it.
  const auto name_begin = stat.find('(');
  const auto name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos || name_begin >= name_end) return std::nullopt;
  const stat_fields fields(stat.substr(name_end + 2));
  const auto parent = fields.number(4);
  const auto start_time = fields.number(22);
  const std::string_view state = fields.text(3);
  const bool is_state = state.size() == 1 && state.front() >= 'A' && state.front() <= 'z';
  if (!is_state || !parent || *parent > INT32_MAX || !start_time) return std::nullopt;
  process_stat known;
  known.name = stat.substr(name_begin + 1, name_end - name_begin - 1);
  known.state = state.front();
  known.parent = process_id{static_cast<std::int64_t>(*parent)};
  known.group = fields.number(5).value_or(0);
  known.session = fields.number(6).value_or(0);
  known.flags = fields.number(9).value_or(0);
  known.faults_of_ended_children = fields.number(11).value_or(0);
  known.start_time = *start_time;
  known.memory_size = fields.number(23).value_or(0);
  known.code_begin = fields.number(26).value_or(0);
  known.code_end = fields.number(27).value_or(0);
  known.stack_begin = fields.number(28).value_or(0);
  for (std::size_t i = 0; i < known.words.size(); ++i) known.words[i] = fields.number(48 + i).value_or(0);
  return known;
}

std::optional<std::string_view> status_line(std::string_view status, std::string_view name) {
  while (true) {
    const auto line_end = status.find('\n');
    if (line_end == std::string_view::npos) return std::nullopt;
    status.remove_prefix(line_end + 1);
    if (!status.starts_with(name) || status.size() == name.size() || status[name.size()] != ':') continue;
    std::string_view rest = status.substr(name.size() + 1);
    rest = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    return rest;
  }
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::vector<process_id> parse_namespace_pids(std::string_view status) {
  std::vector<process_id> all;
  std::string_view line = status_line(status, "NSpid").value_or("");
  while (const auto number = take_number(line)) all.emplace_back(*number);
  return all;
}

std::optional<std::uint64_t> parse_schedstat(std::string_view schedstat) {
  std::uint64_t used = 0;
  const char* const behind = schedstat.data() + schedstat.size();
  const auto [end, problem] = std::from_chars(schedstat.data(), behind, used);
  return problem == std::errc{} && end != behind && *end == ' ' ? std::optional{used} : std::nullopt;
}

std::optional<std::uint64_t> parse_namespace_link(std::string_view link) {
  const auto bracket = link.find(":[");
  if (bracket == std::string_view::npos || !link.ends_with(']')) return std::nullopt;
  const std::string_view digits = link.substr(bracket + 2, link.size() - bracket - 3);
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return problem == std::errc{} && end == digits.data() + digits.size() ? std::optional{number} : std::nullopt;
}

std::vector<std::string> split_strings(std::string_view all) {
  std::vector<std::string> parts;
  (void)any_of_strings(all, [&](std::string_view one) {
    parts.emplace_back(one);
    return false;
  });
  return parts;
}

std::optional<std::string_view> variable_in(std::string_view environment, std::string_view name) {
  std::optional<std::string_view> value;
  (void)any_of_strings(environment, [&](std::string_view entry) {
    if (entry.size() <= name.size() || entry[name.size()] != '=' || !entry.starts_with(name)) return false;
    value = entry.substr(name.size() + 1);
    return true;
  });
  return value;
}

}  // namespace mpiacq
