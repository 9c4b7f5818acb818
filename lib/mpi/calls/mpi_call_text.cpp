// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "calls/mpi_parameters.hpp"
#include "mpiacq/queues/mpi_call.hpp"
#include "text/file_name.hpp"

namespace mpiacq {

namespace {

using role = mpi_role;

/// Whether a text shows an argument even where it is not known.
bool says_whom(role meaning) {
  switch (meaning) {
    case role::destination:
    case role::source:
    case role::target:
    case role::root:
    case role::local_leader:
    case role::remote_leader:
    case role::tag:
    case role::send_tag:
    case role::receive_tag:
      return true;
    default:
      return false;
  }
}

/// All ranks must agree about the counts and the operation of these calls.
bool compares_counts(mpi_call_kind kind) {
  return kind == mpi_call_kind::synchronising || kind == mpi_call_kind::collective ||
         kind == mpi_call_kind::neighbourhood;
}

bool is_shown(const mpi_argument& argument, mpi_call_kind kind) {
  switch (argument.role) {
    case role::communicator:
    case role::peer_communicator:
    case role::request_count:
    case role::window:
    case role::file:
    case role::session:
    case role::lock_type:
    case role::partition:
    case role::color:
      return argument.is_known;
    case role::count:
    case role::send_count:
    case role::receive_count:
    case role::operation:
      return argument.is_known && compares_counts(kind);
    default:
      return says_whom(argument.role);
  }
}

bool is_handle(role meaning) {
  return meaning == role::communicator || meaning == role::peer_communicator || meaning == role::window ||
         meaning == role::file || meaning == role::session || meaning == role::operation;
}

std::string words_of(role meaning) {
  std::string words(word_of(meaning));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

/// What the program has made, by what is the same in all ranks: its name, its number or its ranks, and not its address.
std::string text_of_called(const called_communicator& one) {
  if (one.by == role::window) {
    return one.facts.name.empty() ? fmt::format("window of {} ranks", one.facts.size) : one.facts.name;
  }
  std::string text = one.facts.name.empty() ? fmt::format("communicator {:#x}", one.facts.id) : one.facts.name;
  return one.by == role::file ? "file on " + text : text;
}

std::string text_of_handle(const mpi_argument& argument, const rank_activity& doing) {
  if (doing.on && doing.on->by == argument.role && argument.name.empty()) return text_of_called(*doing.on);
  const std::string words = words_of(argument.role);
  if (argument.name.empty()) return fmt::format("{} {:#x}", words, static_cast<std::uint64_t>(argument.value));
  return argument.role == role::peer_communicator ? words + " " + argument.name : argument.name;
}

std::string value_text(const mpi_argument& argument) {
  if (!argument.is_known) return "?";
  if (argument.name == "MPI_ANY_SOURCE" || argument.name == "MPI_ANY_TAG") return "any";
  return argument.name.empty() ? std::to_string(argument.value) : argument.name;
}

std::string text_of_argument(const mpi_argument& argument, const rank_activity& doing) {
  if (is_handle(argument.role)) return text_of_handle(argument, doing);
  if (argument.role == role::lock_type) return argument.name;
  if (argument.role == role::request_count) {
    return fmt::format("{} request{}", argument.value, argument.value == 1 ? "" : "s");
  }
  return words_of(argument.role) + " " + value_text(argument);
}

}  // namespace

std::string call_text(const rank_activity& doing) {
  std::string shown;
  bool any_known = false;
  for (const mpi_argument& argument : doing.arguments) {
    if (argument.is_address || !is_shown(argument, doing.kind)) continue;
    any_known = any_known || argument.is_known;
    shown += (shown.empty() ? "" : ", ") + text_of_argument(argument, doing);
  }
  return any_known ? fmt::format("{}({})", doing.function, shown) : doing.function;
}

std::string site_text(const call_site& site) {
  if (!site.file.empty() && site.line != 0) {
    return fmt::format(" at {}:{}", base::file_name_of(site.file), site.line);
  }
  return site.function.empty() ? std::string() : ", called by " + site.function;
}

}  // namespace mpiacq
