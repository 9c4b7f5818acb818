// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Open MPI's objects in the memory of a rank: what they are, and where their members are. A handle of Open MPI is the
// address of such an object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/memory.hpp"
#include "objects/openmpi_groups.hpp"
#include "objects/type_fields.hpp"

namespace mpiacq {

/// The size of the text that names an object, with its end (MPI_MAX_OBJECT_NAME).
inline constexpr std::size_t most_label_bytes = 64;

/// Where the members of ompi_communicator_t are that tell which ranks have the communicator.
struct openmpi_communicator_fields {
  field label;  ///< c_name: text, or the address of text
  field rank, flags, local_group, remote_group;
  openmpi_group_fields group;
};

/// Where the members of ompi_win_t are, and of its group, that tell which ranks have the window.
struct openmpi_window_fields {
  field label, flags, group, rank_in_group;
};

/// Where a communicator keeps its topology, and the members of the three kinds of topologies.
struct openmpi_topology_fields {
  field of_communicator, kept;                 ///< the module of a communicator, and the topology of a module
  field dimensions, sizes, cycles, own_place;  ///< of a grid
  field nodes, ends, edges;                    ///< of a graph
  field sources, source_count;                 ///< of a distributed graph
};

/// Where the members of Open MPI's own types are.
struct openmpi_objects {
  field class_parent;  ///< of opal_class_t
  field table_size, table_entries;
  field communicator_id;
  field request_type, request_complete, request_state, request_persistent, request_object;
  std::optional<openmpi_communicator_fields> communicator = {};  ///< empty if a type lacks a member
  std::optional<openmpi_window_fields> window = {};
  std::optional<field> file_communicator = {};  ///< of ompi_file_t
  std::optional<openmpi_topology_fields> topology = {};
};

/// Empty if a type is not known.
[[nodiscard]] std::optional<openmpi_objects> find_openmpi_objects(type_source& types);

/// The variables that describe objects: the classes, the tables of what Fortran has numbers for, and the world.
inline constexpr std::string_view request_class = "ompi_request_t_class";
inline constexpr std::string_view communicator_class = "ompi_communicator_t_class";
inline constexpr std::string_view group_class = "ompi_group_t_class";
inline constexpr std::string_view window_class = "ompi_win_t_class";
inline constexpr std::string_view file_class = "ompi_file_t_class";
inline constexpr std::string_view cartesian_class = "mca_topo_base_comm_cart_2_2_0_t_class";
inline constexpr std::string_view graph_class = "mca_topo_base_comm_graph_2_2_0_t_class";
inline constexpr std::string_view adjacent_graph_class = "mca_topo_base_comm_dist_graph_2_2_0_t_class";
inline constexpr std::string_view fortran_requests = "ompi_request_f_to_c_table";
inline constexpr std::string_view fortran_communicators = "ompi_comm_f_to_c_table";
inline constexpr std::string_view fortran_windows = "ompi_mpi_windows";
inline constexpr std::string_view fortran_files = "ompi_file_f_to_c_table";
inline constexpr std::string_view world_communicator = "ompi_mpi_comm_world";  // among the predefined handles
inline constexpr std::array openmpi_symbols = {
    cartesian_class, graph_class, adjacent_graph_class, request_class,         communicator_class, group_class,
    window_class,    file_class,  fortran_requests,     fortran_communicators, fortran_windows,    fortran_files};

/// Reads members of objects whose addresses may be anything.
class object_reader {
 public:
  object_reader(memory_reader& memory, const target_abi& abi, const openmpi_objects& where)
      : memory_(memory), abi_(abi), where_(where) {}

  /// Empty if it cannot be read.
  [[nodiscard]] std::optional<std::uint64_t> number(target_address object, const field& which);
  /// Whether there is an object of this class, or of a class that is derived from it. Every object begins with the
  /// address of its class, and every class names its parent.
  [[nodiscard]] bool is_a(target_address object, target_address its_class);
  /// The object behind a number of Fortran; empty if the table has none.
  [[nodiscard]] std::optional<target_address> entry(target_address table, std::uint64_t place);

 private:
  [[nodiscard]] std::optional<target_address> class_of(target_address object);
  [[nodiscard]] bool leads_to(target_address from, target_address its_class);

  memory_reader& memory_;
  target_abi abi_;
  const openmpi_objects& where_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, bool> known_;  ///< whether a class leads to another one
};

}  // namespace mpiacq
