// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the parameters of MPI functions mean.
//
// A row of the table lists parameters as words: "buffer count datatype source tag communicator >status". A word is a
// role, with a mark for how C passes the parameter:
//   role     the value itself: a number, a handle, or the address of a buffer or a text
//   &role    the address of one value that the function reads: &request in MPI_Wait
//   role[]   the address of an array that the function reads: request[] in MPI_Waitall
//   >role    the address of a place (or an array) for a result, which says nothing before the call returns
//
// Fortran passes the address of every parameter, in the same order, and an error code after them. Its handles are
// INTEGERs. What C returns through the address of a handle or of a flag stands in the same place in Fortran. The
// lengths of texts follow the error code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "mpiacq/queues/mpi_argument.hpp"

namespace mpiacq {

inline constexpr std::size_t mpi_role_count = static_cast<std::size_t>(mpi_role::text) + 1;

/// How C passes a parameter.
enum class mpi_passing : std::uint8_t {
  value,
  address,  ///< of one value that the function reads
  array,    ///< the address of values that the function reads
  output,   ///< the address of a place for results
};

struct mpi_parameter {
  mpi_role role = mpi_role::number;
  mpi_passing passing = mpi_passing::value;
};

/// A role and its word in the table.
struct mpi_role_word {
  mpi_role role;
  std::string_view word;
};
/// All words, in the order of the roles.
inline constexpr std::array<mpi_role_word, mpi_role_count> mpi_role_words = {{
    {mpi_role::buffer, "buffer"},
    {mpi_role::count, "count"},
    {mpi_role::send_count, "send_count"},
    {mpi_role::receive_count, "receive_count"},
    {mpi_role::target_count, "target_count"},
    {mpi_role::request_count, "request_count"},
    {mpi_role::datatype, "datatype"},
    {mpi_role::send_type, "send_type"},
    {mpi_role::receive_type, "receive_type"},
    {mpi_role::target_type, "target_type"},
    {mpi_role::displacement, "displacement"},
    {mpi_role::destination, "destination"},
    {mpi_role::source, "source"},
    {mpi_role::target, "target"},
    {mpi_role::root, "root"},
    {mpi_role::local_leader, "local_leader"},
    {mpi_role::remote_leader, "remote_leader"},
    {mpi_role::tag, "tag"},
    {mpi_role::send_tag, "send_tag"},
    {mpi_role::receive_tag, "receive_tag"},
    {mpi_role::communicator, "communicator"},
    {mpi_role::peer_communicator, "peer_communicator"},
    {mpi_role::operation, "operation"},
    {mpi_role::request, "request"},
    {mpi_role::message, "message"},
    {mpi_role::status, "status"},
    {mpi_role::window, "window"},
    {mpi_role::file, "file"},
    {mpi_role::group, "group"},
    {mpi_role::info, "info"},
    {mpi_role::session, "session"},
    {mpi_role::error_handler, "error_handler"},
    {mpi_role::color, "color"},
    {mpi_role::key, "key"},
    {mpi_role::lock_type, "lock_type"},
    {mpi_role::assertion, "assertion"},
    {mpi_role::partition, "partition"},
    {mpi_role::partitions, "partitions"},
    {mpi_role::offset, "offset"},
    {mpi_role::size, "size"},
    {mpi_role::number, "number"},
    {mpi_role::text, "text"},
}};

[[nodiscard]] constexpr std::string_view word_of(mpi_role role) {
  return mpi_role_words[static_cast<std::size_t>(role)].word;
}

/// The parameter for one word of the table. None if the word names no role.
[[nodiscard]] constexpr std::optional<mpi_parameter> parameter_of(std::string_view word) {
  mpi_parameter made;
  if (word.starts_with('&') || word.starts_with('>')) {
    made.passing = word.front() == '&' ? mpi_passing::address : mpi_passing::output;
    word.remove_prefix(1);
  } else if (word.ends_with("[]")) {
    made.passing = mpi_passing::array;
    word.remove_suffix(2);
  }
  for (const mpi_role_word& each : mpi_role_words) {
    if (each.word != word) continue;
    made.role = each.role;
    return made;
  }
  return std::nullopt;
}

/// Takes the first word from `words`.
[[nodiscard]] constexpr std::string_view take_word(std::string_view& words) {
  const std::string_view word = words.substr(0, words.find(' '));
  words.remove_prefix(word.size() == words.size() ? word.size() : word.size() + 1);
  return word;
}

/// The number of words. None if one of them names no role.
[[nodiscard]] constexpr std::optional<std::size_t> parameter_count(std::string_view words) {
  std::size_t count = 0;
  for (; !words.empty(); ++count) {
    if (!parameter_of(take_word(words))) return std::nullopt;
  }
  return count;
}

/// No MPI function of the table has more parameters in C.
inline constexpr std::size_t most_mpi_parameters = 14;

/// The parameters that the words of a row name.
[[nodiscard]] std::vector<mpi_parameter> parameters_of(std::string_view words);

}  // namespace mpiacq
