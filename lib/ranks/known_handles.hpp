// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The handles of an MPI, learnt once for all ranks that map the same files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "handles/process_handles.hpp"
#include "mpiacq/process/process_maps.hpp"

namespace mpiacq {

/// Opening the symbols of each rank anew would cost more than following the arguments of its call. A rank with the
/// same code as an earlier one (device, inode, offset and size of each executable mapping) has the same MPI, and each
/// predefined object lies as far from the code of its module.
class known_handles {
 public:
  /// `code`: the executable mappings of a process in the order of addresses. Empty if no process with the same files
  /// has been learnt. A process with code that belongs to no file is never known.
  [[nodiscard]] std::optional<process_handles> find(std::span<const code_range> code) const;
  /// The handles of a process with these mappings.
  void learn(std::span<const code_range> code, const process_handles& handles);

 private:
  using file_part = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
  /// A predefined object, by the mapping below it.
  struct place {
    std::size_t mapping = 0;  ///< in the order of files
    std::uint64_t distance = 0;
    std::string name;
  };
  struct entry {
    process_handles handles;  ///< without objects
    std::vector<place> objects;
  };
  struct ordered_code;
  [[nodiscard]] static std::optional<ordered_code> in_order_of_files(std::span<const code_range> code);

  std::map<std::vector<file_part>, entry> entries_;
};

}  // namespace mpiacq
