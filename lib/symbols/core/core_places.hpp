// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/core_notes.hpp"
#include "modules/target_files.hpp"
#include "mpiacq/process/core_file.hpp"

namespace mpiacq::elf {

/// The possible places of the files that a core's process had mapped. A file at any of these places may be the wrong
/// one.
class core_places final : public target_files {
 public:
  /// Both must outlive this object. `executable` is the program's path in the core.
  core_places(const core_notes& notes, const core_file_options& options) : notes_(notes), options_(options) {}
  void set_executable(std::string path) { executable_ = std::move(path); }

  [[nodiscard]] std::vector<file_place> program_places() const override;
  [[nodiscard]] std::vector<file_place> library_places(const std::string& name) const override;
  [[nodiscard]] std::optional<file_place> mapped_at(target_address address, const std::string& name) const override;
  [[nodiscard]] std::string name_at(target_address address) const override;
  [[nodiscard]] std::vector<std::string> roots() const override;

  /// The places of a mapped file, which may be the program's.
  [[nodiscard]] std::vector<file_place> places_of(const std::string& path) const;

 private:
  const core_notes& notes_;
  const core_file_options& options_;
  std::string executable_;
};

}  // namespace mpiacq::elf
