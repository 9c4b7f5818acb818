// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// MPICH's objects in the memory of a rank: how a handle leads to its object, and where the members of objects are. The
// debug information of the rank's own MPICH says it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/symbols.hpp"
#include "mpiacq/process/type_source.hpp"
#include "objects/type_fields.hpp"

namespace mpiacq {

/// Where the members of a table of objects are (MPIR_Object_alloc_t).
struct mpich_table_fields {
  std::uint64_t bytes = 0;  ///< of the whole table
  field direct, direct_count, blocks, block_count, object_bytes;
};
/// The members of objects of one kind.
struct mpich_request_fields {
  std::uint64_t bytes = 0;
  field handle, kind, counter, counter_at, communicator;
  std::vector<enumerator> kinds;
};
struct mpich_communicator_fields {
  std::uint64_t bytes = 0;
  field handle, peers, send_id, receive_id;
};
/// Where a request of the device ch3 has its message, from the beginning of the request.
struct mpich_message_fields {
  field tag, rank, id;
};
/// How a communicator of ch3 leads to the processes behind its ranks.
struct mpich_process_fields {
  field of_communicator, count, first, group, rank_in_group;
};

/// Where the members of MPICH's own types are.
struct mpich_objects {
  mpich_table_fields table;
  mpich_request_fields request;
  mpich_communicator_fields communicator;
  std::optional<mpich_message_fields> message = {};    ///< ch3 alone
  std::optional<mpich_process_fields> processes = {};  ///< ch3 alone
  std::uint64_t request_tables = 1;                    ///< MPICH 3.4 and later have several
};

/// Empty if a type is not known.
[[nodiscard]] std::optional<mpich_objects> find_mpich_objects(type_source& types);

inline constexpr std::string_view mpich_request_tables = "MPIR_Request_mem";
inline constexpr std::string_view mpich_communicator_table = "MPIR_Comm_mem";
inline constexpr std::string_view mpich_communicators = "MPIR_Comm_builtin";
inline constexpr std::string_view mpich_predefined_requests = "MPIR_Request_builtins";
inline constexpr std::array mpich_symbols = {mpich_request_tables, mpich_predefined_requests, mpich_communicator_table,
                                             mpich_communicators};

/// Where the objects of one kind are.
struct mpich_places {
  target_address tables;
  std::optional<target_address> predefined;
};

/// Finds the objects behind handles. Every object holds its own handle, so that each answer is confirmed.
class mpich_object_reader {
 public:
  mpich_object_reader(memory_reader& memory, const target_abi& abi, const mpich_objects& where)
      : memory_(memory), abi_(abi), where_(where) {}

  /// The object of this handle; empty if there is none.
  [[nodiscard]] std::optional<target_address> request(std::uint64_t handle_value, const mpich_places& in);
  [[nodiscard]] std::optional<target_address> communicator(std::uint64_t handle_value, const mpich_places& in);

  /// Empty if it cannot be read.
  [[nodiscard]] std::optional<std::uint64_t> number(target_address object, const field& which);
  [[nodiscard]] std::optional<std::int64_t> signed_number(target_address object, const field& which);

 private:
  struct kept_object {
    std::uint64_t bytes = 0;
    field handle;
  };
  [[nodiscard]] bool is_object(target_address object, const field& handle_in, std::uint64_t handle_value);
  [[nodiscard]] std::optional<target_address> in_table(target_address table, const kept_object& what,
                                                       std::uint64_t handle_value, unsigned place_width);
  [[nodiscard]] std::optional<target_address> among_predefined(const std::optional<target_address>& first,
                                                               const kept_object& what, std::uint64_t handle_value);

  memory_reader& memory_;
  target_abi abi_;
  const mpich_objects& where_;
};

}  // namespace mpiacq
