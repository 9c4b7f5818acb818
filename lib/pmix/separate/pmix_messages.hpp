// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the tool and the PMIx helper process say to each other, as frames on a stream socket. Each side takes the other
// for hostile: the library in the helper is foreign code, and it speaks for a foreign server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "framing/members.hpp"
#include "helper/helper_begin.hpp"
#include "mpiacq/base/error.hpp"

namespace mpiacq::pmix {

/// The descriptors that the helper process inherits beside its socket.
inline constexpr int library_descriptor = base::helper_socket + 1;
inline constexpr int first_free_descriptor = base::helper_socket + 2;

/// The largest frame in bytes, in both directions.
inline constexpr std::uint32_t longest_message = 1U << 20U;
/// So many rows are in one frame.
inline constexpr std::size_t rows_in_message = 256;
/// A longer text of the library is cut: a host, an executable.
inline constexpr std::size_t longest_text = 4096;
/// A server that lists more namespaces than this is not believed.
inline constexpr std::size_t most_namespaces = 4096;
/// A longer list of namespaces is no list.
inline constexpr std::size_t longest_namespace_list = most_namespaces * 256;

/// A process of PMIx: a namespace and a rank in it.
struct process_name {
  std::string nspace;
  std::uint32_t rank = 0;
  friend bool operator==(const process_name&, const process_name&) = default;
};

/// The first message of the tool: the helper loads the library.
struct begin_message {
  std::string version;         ///< of mpiacq
  std::string library;         ///< the path of the library, for sentences
  std::string uri;             ///< of the server
  std::string server_version;  ///< of the server's PMIx; empty: it is not known
};
/// The first request: the helper connects to the server. Before, the server knows nothing of the helper.
struct connect_now {};
/// For the namespaces and tables of the server.
struct ask_job {
  bool follows = false;    ///< from now on, the helper also reports events
  bool with_ends = false;  ///< among them the ends of namespaces
};
/// Ranks of this namespace that wait in PMIx_Init go on.
struct release_ranks {
  std::string nspace;
};
/// The server starts a program once on each node of a namespace, as its debugger daemon.
struct launch_daemons {
  std::string nspace;
  std::vector<std::string> command;  ///< the program's path and its arguments
};
/// The helper disconnects and ends.
struct disconnect {};
using request = std::variant<connect_now, ask_job, release_ranks, launch_daemons, disconnect>;

/// The helper is connected to the server.
struct connected {
  std::string library_version;
  process_name own;
};
/// A namespace. Its rows follow.
struct world_begins {
  std::string nspace;
  std::optional<process_name> spawned_by;
  std::uint64_t claimed = 0;  ///< the number of rows that the server says that there are
};
/// A row of a table.
struct process_row {
  std::uint32_t rank = 0;
  std::optional<std::string> host;
  std::optional<std::string> executable;
  std::int64_t pid = 0;
  std::uint8_t state = 0;
  friend bool operator==(const process_row&, const process_row&) = default;
};
struct world_rows {
  std::vector<process_row> rows;
};
/// Something that costs one namespace alone.
struct problem_told {
  error what;
};
/// The request is done; the answer to `ask_job` is complete.
struct answered {
  std::string nspace;  ///< of the daemons that the server has started; empty for other requests
};
/// An event of the server.
struct event_told {
  std::int32_t code = 0;
  process_name source;
  std::optional<process_name> affected;
};
/// The helper can do nothing more, and ends.
struct failed {
  error why;
};
/// The request failed. The helper answers further ones: events may still come.
struct refused {
  error why;
};
using helper_message =
    std::variant<connected, world_begins, world_rows, problem_told, answered, event_told, failed, refused>;

}  // namespace mpiacq::pmix

namespace mpiacq {

template <>
inline constexpr auto members<pmix::process_name> = std::tuple{&pmix::process_name::nspace, &pmix::process_name::rank};
template <>
inline constexpr auto members<pmix::begin_message> =
    std::tuple{&pmix::begin_message::version, &pmix::begin_message::library, &pmix::begin_message::uri,
               &pmix::begin_message::server_version};
template <>
inline constexpr auto members<pmix::connect_now> = std::tuple{};
template <>
inline constexpr auto members<pmix::ask_job> = std::tuple{&pmix::ask_job::follows, &pmix::ask_job::with_ends};
template <>
inline constexpr auto members<pmix::release_ranks> = std::tuple{&pmix::release_ranks::nspace};
template <>
inline constexpr auto members<pmix::launch_daemons> =
    std::tuple{&pmix::launch_daemons::nspace, &pmix::launch_daemons::command};
template <>
inline constexpr auto members<pmix::disconnect> = std::tuple{};
template <>
inline constexpr auto members<pmix::connected> = std::tuple{&pmix::connected::library_version, &pmix::connected::own};
template <>
inline constexpr auto members<pmix::world_begins> =
    std::tuple{&pmix::world_begins::nspace, &pmix::world_begins::spawned_by, &pmix::world_begins::claimed};
template <>
inline constexpr auto members<pmix::process_row> =
    std::tuple{&pmix::process_row::rank, &pmix::process_row::host, &pmix::process_row::executable,
               &pmix::process_row::pid, &pmix::process_row::state};
template <>
inline constexpr auto members<pmix::world_rows> = std::tuple{&pmix::world_rows::rows};
template <>
inline constexpr auto members<pmix::problem_told> = std::tuple{&pmix::problem_told::what};
template <>
inline constexpr auto members<pmix::answered> = std::tuple{&pmix::answered::nspace};
template <>
inline constexpr auto members<pmix::event_told> =
    std::tuple{&pmix::event_told::code, &pmix::event_told::source, &pmix::event_told::affected};
template <>
inline constexpr auto members<pmix::refused> = std::tuple{&pmix::refused::why};
template <>
inline constexpr auto members<pmix::failed> = std::tuple{&pmix::failed::why};

}  // namespace mpiacq
