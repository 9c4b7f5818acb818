// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "modules/running_program.hpp"
#include "modules/target_files.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq::elf {

/// The files of a live process, through /proc/PID/exe, root, cwd and map_files. These lead to the files that the
/// process itself has mapped, in any mount namespace.
class process_files final : public target_files {
 public:
  explicit process_files(process_id pid) : pid_(pid) {}
  [[nodiscard]] std::vector<file_place> program_places() const override;
  [[nodiscard]] std::vector<file_place> library_places(const std::string& name) const override;
  [[nodiscard]] std::optional<file_place> mapped_at(target_address address, const std::string& name) const override;
  [[nodiscard]] std::string name_at(target_address address) const override;
  [[nodiscard]] std::vector<std::string> roots() const override;

 private:
  process_id pid_;
};

/// The program that a live process runs. If its file has been replaced, `problems` gets an entry. Errors: process_gone,
/// permission, bad_format.
[[nodiscard]] result<running_program> look_at_process(process_id pid, memory_reader& memory,
                                                      std::vector<error>& problems);

}  // namespace mpiacq::elf
