// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The processes of Open MPI's groups.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/memory.hpp"
#include "objects/type_fields.hpp"

namespace mpiacq {

/// Where the members of ompi_group_t are, and the name of a process in opal_proc_t.
struct openmpi_group_fields {
  field size, processes;
  std::optional<field> process_name;
};
/// False if a type is not known.
[[nodiscard]] bool take_group_fields(type_reader& type, openmpi_group_fields& into);

/// A group with more processes than this is not read.
inline constexpr std::uint64_t most_group_processes = 1U << 20U;

/// The name of a process in one word, as Open MPI stores it in a group for a process that this one has not talked to
/// yet (proc.h): bit 0 is set, then 15 bits of the job's lower half, 16 of its upper half, 32 of the number in the job.
class process_word {
 public:
  explicit process_word(std::uint64_t bits) : bits_(bits) {}
  /// From opal_process_name_t: the job, and the number of the process in the job.
  process_word(std::uint64_t job, std::uint64_t number)
      : bits_(number << 32U | (job >> 16U & 0xffffU) << 16U | (job & 0x7fffU) << 1U | 1U) {}

  [[nodiscard]] std::uint64_t bits() const { return bits_; }
  /// False for the address of a process.
  [[nodiscard]] bool is_name() const { return (bits_ & 1U) != 0; }
  /// The same for all processes of a job.
  [[nodiscard]] std::uint32_t job() const { return static_cast<std::uint32_t>(bits_); }
  [[nodiscard]] std::uint32_t number() const { return static_cast<std::uint32_t>(bits_ >> 32U); }

 private:
  std::uint64_t bits_;
};

/// Words of the size of an address; empty if not all of them can be read.
[[nodiscard]] std::vector<std::uint64_t> read_words(memory_reader& memory, const target_abi& abi, target_address from,
                                                    std::uint64_t count);
/// The word of each process of a group. A process that is stored by its address is named, too, if its name can be read;
/// so equal processes have equal words in all groups. Empty if the group is empty or too long, or cannot be read.
/// Sparse groups have no list.
[[nodiscard]] std::optional<std::vector<process_word>> read_group(memory_reader& memory, const target_abi& abi,
                                                                  const openmpi_group_fields& where,
                                                                  target_address group);

}  // namespace mpiacq
