// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "openmpi_communicators.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "mpiacq/base/memory.hpp"
#include "mpiacq/queues/queue_memory.hpp"
#include "objects/openmpi_groups.hpp"
#include "objects/type_fields.hpp"

namespace mpiacq {

namespace {

constexpr std::uint64_t inter_flag = 1;  ///< OMPI_COMM_INTER
constexpr std::uint64_t most_communicators = 100'000;

/// What it takes to find the objects of the report's communicators.
struct list_layouts {
  field array_size, array_pointers;
  field id, rank;
};

std::optional<list_layouts> find_list_layouts(type_source& types) {
  list_layouts all;
  type_reader type(types);
  const bool found = type.open("opal_pointer_array_t") && type.take("size", all.array_size) &&
                     type.take("addr", all.array_pointers) && type.open("ompi_communicator_t") &&
                     take_communicator_id(type, all.id) && type.take("c_my_rank", all.rank);
  return found ? std::optional{all} : std::nullopt;
}

struct layouts {
  field flags, local_group, remote_group;
  openmpi_group_fields group;
};

std::optional<layouts> find_layouts(type_source& types) {
  layouts all;
  type_reader type(types);
  const bool found = type.open("ompi_communicator_t") && type.take("c_flags", all.flags) &&
                     type.take("c_local_group", all.local_group) && type.take("c_remote_group", all.remote_group) &&
                     take_group_fields(type, all.group);
  return found ? std::optional{all} : std::nullopt;
}

/// The objects of a process's communicators that its report describes.
struct communicator_list {
  std::uint64_t world = 0;  ///< the address of the first communicator of all
  std::vector<described_communicator> described;
};

communicator_list read_list(target& process, type_source& types, queue_report& report) {
  communicator_list found;
  constexpr std::string_view name = "ompi_mpi_communicators";
  const auto array = process.symbols.look_up({&name, 1}, {true, nullptr});
  if (report.communicators.empty() || !array || !array->front()) return found;
  const auto where = find_list_layouts(types);
  if (!where) return found;
  const auto integer = [&](target_address base, const field& f) {
    return read_unsigned(process.memory, process.abi, base + f.offset, static_cast<std::size_t>(f.size));
  };
  const auto count = integer(array->front()->address(), where->array_size);
  const auto pointers = integer(array->front()->address(), where->array_pointers);
  if (!count || *count > most_communicators || !pointers || *pointers == 0) return found;
  std::unordered_map<std::uint64_t, queue_communicator*> by_id;
  for (queue_communicator& one : report.communicators) by_id.emplace(one.id, &one);
  const auto all = read_words(process.memory, process.abi, target_address{*pointers}, *count);
  if (!all.empty()) found.world = all.front();
  for (const std::uint64_t at : all) {
    if (at == 0) continue;
    const auto id = integer(target_address{at}, where->id);
    const auto known = id ? by_id.find(*id) : by_id.end();
    if (known == by_id.end()) continue;
    // The communicator is the one that the library described only if the ranks agree.
    const auto rank = integer(target_address{at}, where->rank);
    if (!rank || *rank != static_cast<std::uint64_t>(known->second->local_rank)) continue;
    found.described.push_back({target_address{at}, known->second});
  }
  return found;
}

class openmpi_reader {
 public:
  openmpi_reader(target& process, const layouts& where) : process_(process), where_(where) {}

  void complete(const communicator_list& list, queue_report& report) {
    bytes_left_ = most_report_bytes - std::min(most_report_bytes, bytes_held(report));
    for (const auto& [object, told] : list.described) look_at(object, *told, list.world);
    if (left_out_) {
      report.problems.emplace_back(error_code::limit,
                                   fmt::format("the report of this rank, with the remote groups of its "
                                               "intercommunicators, needs more than {} MB; some remote groups are left "
                                               "out",
                                               most_report_bytes >> 20U));
    }
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> integer(target_address base, const field& f) {
    const auto value = read_unsigned(process_.memory, process_.abi, base + f.offset, static_cast<std::size_t>(f.size));
    return value ? std::optional{*value} : std::nullopt;
  }
  [[nodiscard]] std::optional<target_address> pointer(target_address base, const field& f) {
    const auto value = integer(base, f);
    return value && *value != 0 ? std::optional{target_address{*value}} : std::nullopt;
  }
  void look_at(target_address communicator, queue_communicator& told, std::uint64_t world) {
    const auto flags = integer(communicator, where_.flags);
    if (!flags) return;
    if ((*flags & inter_flag) == 0) {
      // An operation with a rank beyond the group contradicts this, and then nothing here is reliable.
      if (!told.is_inter) told.is_inter = false;
      return;
    }
    make_inter(told, remote_group(communicator, target_address{world}));
  }

  [[nodiscard]] std::optional<group_members> remote_group(target_address communicator, target_address world) {
    const auto group = pointer(communicator, where_.remote_group);
    if (!group) return std::nullopt;
    const auto members = members_of(*group);
    if (!members) return std::nullopt;
    const std::uint64_t bytes = bytes_held(group_members()) + members->size() * sizeof(std::int64_t);
    if (bytes > bytes_left_) {
      left_out_ = true;
      return std::nullopt;
    }
    bytes_left_ -= bytes;
    if (by_name_.empty()) learn_world(world);
    std::vector<std::int64_t> ranks;
    ranks.reserve(members->size());
    for (const process_word& one : *members) {
      const auto found = by_name_.find(one.bits());
      ranks.push_back(found == by_name_.end() ? -1 : found->second);
    }
    return ranks;
  }

  void learn_world(target_address world) {
    const auto group = pointer(world, where_.local_group);
    const auto members = group ? members_of(*group) : std::nullopt;
    if (!members) return;
    for (std::size_t rank = 0; rank < members->size(); ++rank) {
      by_name_.try_emplace((*members)[rank].bits(), static_cast<std::int64_t>(rank));
    }
  }

  [[nodiscard]] std::optional<std::vector<process_word>> members_of(target_address group) {
    return read_group(process_.memory, process_.abi, where_.group, group);
  }

  target& process_;
  const layouts& where_;
  std::uint64_t bytes_left_ = 0;                             ///< the size by which the report may still grow
  bool left_out_ = false;                                    ///< whether a remote group was left out for lack of room
  std::unordered_map<std::uint64_t, std::int64_t> by_name_;  ///< ranks in the world
};

}  // namespace

std::vector<described_communicator> find_described_communicators(target& process, type_source& types,
                                                                 queue_report& report) {
  return read_list(process, types, report).described;
}

void look_at_openmpi_communicators(target& process, type_source& types, queue_report& report) {
  if (report.communicators.empty()) return;
  const auto where = find_layouts(types);
  if (!where) return;
  const communicator_list list = read_list(process, types, report);
  if (!list.described.empty()) openmpi_reader(process, *where).complete(list, report);
}

}  // namespace mpiacq
