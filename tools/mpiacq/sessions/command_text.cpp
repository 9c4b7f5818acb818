// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The commands of --each, and the ranks that they run for.
#include <array>
#include <utility>

#include <fmt/format.h>

#include "report/call_chains.hpp"
#include "sessions/rank_commands.hpp"

namespace mpiacq::tool {

namespace {

/// One word of a shell, whatever the value contains.
std::string quoted_for_shell(std::string_view value) {
  std::string word = "'";
  for (const char c : value) {
    if (c == '\'') {
      word += "'\\''";
    } else if (c != '\0') {
      word += c;
    }
  }
  return word + "'";
}

/// A path that the command does not mistake for an option.
std::string as_file(const std::string& path) {
  return path.starts_with('-') ? "./" + path : path;
}

/// Whether the command would mistake the world or the host for an option.
bool is_option(const command_subject& subject) {
  return subject.world.starts_with('-') || subject.host.starts_with('-');
}

}  // namespace

std::string command_for(std::string_view text, const command_subject& subject) {
  const std::array<std::pair<std::string_view, std::string>, 5> values = {
      {{"{rank}", subject.rank},
       {"{world}", quoted_for_shell(subject.world)},
       {"{pid}", std::to_string(subject.pid.value())},
       {"{host}", quoted_for_shell(subject.host)},
       {"{exe}", quoted_for_shell(as_file(subject.executable))}}};
  std::string command;
  while (!text.empty()) {
    std::size_t taken = 1;
    std::string_view put = text.substr(0, 1);
    for (const auto& [name, value] : values) {
      if (text.substr(0, name.size()) != name) continue;
      taken = name.size();
      put = value;
    }
    command += put;
    text.remove_prefix(taken);
  }
  return command;
}

command_subjects subjects_of(const process_table& table, const std::vector<rank_state>& states,
                             const rank_selection& selected) {
  command_subjects found;
  rank_set remote, gone, others, unknown, options;
  for (const entry_index entry : table.names().selected(selected, table.size())) {
    if (states[entry.value()] == rank_state::remote) {
      remote.add(entry);
    } else if (states[entry.value()] == rank_state::gone) {
      gone.add(entry);
    } else if (states[entry.value()] == rank_state::other_user) {
      others.add(entry);
    } else if (states[entry.value()] == rank_state::unknown) {
      unknown.add(entry);
    } else {
      const std::uint32_t world = table.names().world(entry);
      command_subject subject{table.names().of(entry), world < table.worlds().size() ? table.worlds()[world].id : "",
                              table.pid(entry), std::string(table.host_name(entry).value_or("")),
                              std::string(table.executable_name(entry).value_or(""))};
      if (is_option(subject)) {
        options.add(entry);
      } else {
        found.subjects.push_back(std::move(subject));
      }
    }
  }
  const auto add = [&](const rank_set& ranks, const char* why) {
    if (ranks.empty()) return;
    if (!found.left_out.empty()) found.left_out += "; ";
    found.left_out += fmt::format("the command is not run for {}, {}", ranks_words(ranks, table.names()), why);
  };
  add(remote, "on other nodes");
  add(gone, "gone");
  add(others, "whose processes do not belong to the starter's user");
  add(unknown, "whose processes cannot be looked at");
  add(options, "whose host or world has a name that begins with '-'");
  return found;
}

}  // namespace mpiacq::tool
