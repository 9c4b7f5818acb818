// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "proc/process_facts.hpp"

namespace mpiacq {

/// Programs in which the symbols of the interfaces were looked for and not found. The search reads all files that a
/// process maps, and their debug files. Another process that maps the same files has the same symbols, so that it need
/// not be searched: on a node, many processes run the same shell.
class searched_programs {
 public:
  /// The executable, the files from which a process runs code, and where it sees debug files. The user belongs to it: a
  /// user can change the memory of own processes, and must not hide those of others. Empty if one of these cannot be
  /// read.
  [[nodiscard]] static std::optional<std::string> program_of(const process_facts& process);

  [[nodiscard]] bool lacks_symbols(const std::optional<std::string>& program) const {
    return program && lacking_.contains(*program);
  }
  /// The search in a process found nothing. `before`: its program before the search; the process may have executed
  /// another one meanwhile.
  void note_lack(const process_facts& process, const std::optional<std::string>& before);

 private:
  std::unordered_set<std::string> lacking_;
};

}  // namespace mpiacq
