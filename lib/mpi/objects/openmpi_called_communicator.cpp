// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "objects/openmpi_called_communicator.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "objects/openmpi_topology.hpp"
#include "text/printable.hpp"

namespace mpiacq {

namespace {

constexpr std::uint64_t inter_communicator = 0x1;     ///< OMPI_COMM_INTER
constexpr std::uint64_t invalid_communicator = 0x20;  ///< OMPI_COMM_INVALID
constexpr std::uint64_t gone_window = 0x3;            ///< OMPI_WIN_INVALID, OMPI_WIN_FREED
constexpr std::uint64_t most_ranks = 1U << 24U;

/// This process in MPI_COMM_WORLD.
struct place_in_world {
  std::uint64_t rank = 0;
  std::uint64_t size = 0;
};

/// Reads one communicator. Each function answers with nothing if what it reads is not plausible.
class communicator_reader {
 public:
  communicator_reader(const process_handles& handles, const target_abi& abi, memory_reader& memory)
      : handles_(handles),
        where_(*handles.layouts),
        fields_(*handles.layouts->communicator),
        abi_(abi),
        memory_(memory),
        objects_(memory, abi, where_),
        of_communicators_(handles.address_of(communicator_class)),
        of_groups_(handles.address_of(group_class)) {}

  /// What the argument names: a communicator, a window or a file.
  [[nodiscard]] std::optional<called_communicator> read(const mpi_argument& named, mpi_language language) {
    const auto value = static_cast<std::uint64_t>(named.value);
    const auto object = language == mpi_language::c ? target_address{value} : entry(named.role, value);
    if (!object || !of_communicators_ || !of_groups_) return std::nullopt;
    auto facts = named.role == mpi_role::window ? read_window(*object)
                 : named.role == mpi_role::file ? read_file(*object)
                                                : read_communicator(*object);
    if (!facts) return std::nullopt;
    called_communicator made{named.role, std::move(*facts), {}};
    if (named.role == mpi_role::communicator && !*made.facts.is_inter) {
      made.sources = read_neighbours(*object, handles_, objects_, memory_, made.facts.local_rank, made.facts.size);
    }
    return made;
  }

 private:
  /// The object behind a number of Fortran.
  [[nodiscard]] std::optional<target_address> entry(mpi_role of, std::uint64_t number) {
    const auto table = handles_.address_of(of == mpi_role::window ? fortran_windows
                                           : of == mpi_role::file ? fortran_files
                                                                  : fortran_communicators);
    return table ? objects_.entry(*table, number) : std::nullopt;
  }
  [[nodiscard]] bool is_a(target_address object, std::string_view of_class) {
    const auto its_class = handles_.address_of(of_class);
    return its_class && objects_.is_a(object, *its_class);
  }

  [[nodiscard]] std::optional<queue_communicator> read_file(target_address object) {
    if (!where_.file_communicator || !is_a(object, file_class)) return std::nullopt;
    const auto on = objects_.number(object, *where_.file_communicator);
    return on ? read_communicator(target_address{*on}) : std::nullopt;
  }

  [[nodiscard]] std::optional<queue_communicator> read_window(target_address object) {
    if (!where_.window || !is_a(object, window_class)) return std::nullopt;
    const auto flags = objects_.number(object, where_.window->flags);
    const auto group = group_in(object, where_.window->group);
    const auto size = group ? size_of(*group) : std::nullopt;
    const auto rank = group ? objects_.number(*group, where_.window->rank_in_group) : std::nullopt;
    if (!flags || !size || !rank || (*flags & gone_window) != 0 || *rank >= *size) return std::nullopt;
    queue_communicator made;
    made.name = label_of(object, where_.window->label);
    made.local_rank = static_cast<std::int64_t>(*rank);
    made.size = static_cast<std::int64_t>(*size);
    made.is_inter = false;
    // Nothing else tells one window from another.
    if (!put_groups(object, *group, made) || !made.group) return std::nullopt;
    return made;
  }

  [[nodiscard]] std::optional<queue_communicator> read_communicator(target_address object) {
    if (!objects_.is_a(object, *of_communicators_)) return std::nullopt;
    const auto id = objects_.number(object, where_.communicator_id);
    const auto rank = objects_.number(object, fields_.rank);
    const auto flags = objects_.number(object, fields_.flags);
    const auto local = group_in(object, fields_.local_group);
    const auto size = local ? size_of(*local) : std::nullopt;
    if (!id || !rank || !flags || !size || (*flags & invalid_communicator) != 0 || *rank >= *size) return std::nullopt;
    queue_communicator made;
    made.id = *id;
    made.name = label_of(object, fields_.label);
    made.local_rank = static_cast<std::int64_t>(*rank);
    made.size = static_cast<std::int64_t>(*size);
    made.is_inter = (*flags & inter_communicator) != 0;
    if (!put_groups(object, *local, made)) return std::nullopt;
    return made;
  }

  [[nodiscard]] std::optional<target_address> group_in(target_address object, const field& which) {
    const auto group = objects_.number(object, which);
    return group && objects_.is_a(target_address{*group}, *of_groups_) ? std::optional{target_address{*group}}
                                                                       : std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint64_t> size_of(target_address group) {
    const auto size = objects_.number(group, fields_.group.size);
    return size && *size >= 1 && *size <= most_ranks ? size : std::nullopt;
  }
  /// The name in an object: text, or the address of text.
  [[nodiscard]] std::string label_of(target_address object, const field& which) {
    target_address text = object + which.offset;
    if (which.size == abi_.pointer_size) {
      const auto where = objects_.number(object, which);
      if (!where || *where == 0) return "";
      text = target_address{*where};
    }
    const auto label = read_c_string(memory_, text, most_label_bytes);
    return label ? base::printable(*label) : "";
  }

  /// False if a group is not plausible. A group that has no list, or a process without a name, is not known.
  [[nodiscard]] bool put_groups(target_address object, target_address local, queue_communicator& made) {
    const auto remote = *made.is_inter ? group_in(object, fields_.remote_group) : std::nullopt;
    if (*made.is_inter && !remote) return false;
    if (!has_list(local) || (remote && !has_list(*remote))) return true;
    const auto world = find_world();
    const auto own = read_group(memory_, abi_, fields_.group, local);
    const auto rank = static_cast<std::size_t>(made.local_rank);
    if (!world || !own || own->size() != static_cast<std::size_t>(made.size)) return false;
    const process_word self = (*own)[rank];
    if (!self.is_name() || self.number() != world->rank) return false;
    made.group = numbers_of(*own, self.job(), world->size);
    if (remote) {
      const auto others = read_group(memory_, abi_, fields_.group, *remote);
      if (!others) return false;
      made.remote_group = numbers_of(*others, self.job(), world->size);
    }
    return made.group && made.remote_group.has_value() == remote.has_value();
  }
  [[nodiscard]] bool has_list(target_address group) {
    const auto processes = objects_.number(group, fields_.group.processes);
    return fields_.group.process_name && processes && *processes != 0;
  }
  [[nodiscard]] std::optional<place_in_world> find_world() {
    const auto object = handles_.address_of(world_communicator);
    const auto rank = object ? objects_.number(*object, fields_.rank) : std::nullopt;
    const auto group = object ? group_in(*object, fields_.local_group) : std::nullopt;
    const auto size = group ? size_of(*group) : std::nullopt;
    return rank && size && *rank < *size ? std::optional{place_in_world{*rank, *size}} : std::nullopt;
  }
  /// The numbers of processes in the job; -1 for those of another job. A process is in a group only once.
  [[nodiscard]] static std::optional<group_members> numbers_of(const std::vector<process_word>& words,
                                                               std::uint32_t job, std::uint64_t job_size) {
    std::vector<std::int64_t> numbers;
    std::unordered_set<std::uint64_t> seen;
    for (const process_word& one : words) {
      const bool is_own = one.job() == job;
      if (!one.is_name() || !seen.insert(one.bits()).second || (is_own && one.number() >= job_size)) {
        return std::nullopt;
      }
      numbers.push_back(is_own ? std::int64_t{one.number()} : -1);
    }
    return group_members(std::move(numbers));
  }

  const process_handles& handles_;
  const openmpi_objects& where_;
  const openmpi_communicator_fields& fields_;
  target_abi abi_;
  memory_reader& memory_;
  object_reader objects_;
  std::optional<target_address> of_communicators_, of_groups_;
};

}  // namespace

std::optional<called_communicator> read_openmpi_communicator(std::span<const mpi_argument> arguments,
                                                             const process_handles& handles, mpi_language language,
                                                             memory_reader& memory) {
  if (handles.abi != mpi_abi::openmpi || !handles.layouts || !handles.layouts->communicator) return std::nullopt;
  communicator_reader reader(handles, handles.machine(), memory);
  for (const mpi_role wanted : {mpi_role::communicator, mpi_role::window, mpi_role::file}) {
    const auto named = std::find_if(arguments.begin(), arguments.end(), [&](const mpi_argument& one) {
      return one.role == wanted && one.is_known && !one.is_address;
    });
    if (named == arguments.end()) continue;
    return named->name.empty() ? reader.read(*named, language) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace mpiacq
