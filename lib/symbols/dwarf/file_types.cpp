// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/file_types.hpp"

#include <utility>

namespace mpiacq::elf {

file_types::file_types(std::shared_ptr<image> file, std::string path, std::vector<std::string> roots)
    : path_(std::move(path)),
      roots_(std::move(roots)),
      file_(std::move(file)),
      files_(module_symbols::parts_of_file(file_, path_, roots_)) {}

std::unique_ptr<file_types::dwarf> file_types::dwarf_in(image* file, layout_source source,
                                                        const debug_file_search& search,
                                                        std::vector<error>& problems) const {
  if (file == nullptr) return nullptr;
  auto opened = debug_info::dwarf_data::open(*file, search, roots_);
  if (!opened) {
    problems.push_back(std::move(opened).error().on(path_));
    return nullptr;
  }
  return *opened ? std::make_unique<dwarf>(std::move(**opened), source) : nullptr;
}

void file_types::open(bool ask_server, const debug_file_search& search, std::vector<error>& problems) {
  if (!tried_here_) {
    tried_here_ = true;
    dwarf_ = dwarf_in(file_.get(), layout_source::dwarf, search, problems);
    if (!dwarf_) dwarf_ = dwarf_in(files_.debug_file(search, problems), layout_source::debug_file, search, problems);
  }
  if (!dwarf_ && ask_server && !tried_server_) {
    tried_server_ = true;
    image* served = files_.served_debug_file(search, problems);
    dwarf_ = dwarf_in(served, layout_source::debuginfod, search, problems);
    if (dwarf_) answers_.clear();  // all of them are empty
  }
}

bool file_types::has_types(const debug_file_search& search, std::vector<error>& problems) {
  open(false, search, problems);
  return dwarf_ != nullptr;
}

std::optional<structure_layout> file_types::find(std::string_view name, source_language language, bool ask_server,
                                                 const debug_file_search& search, std::vector<error>& problems) {
  open(ask_server, search, problems);
  if (!dwarf_) return std::nullopt;
  const std::string key = (language == source_language::fortran ? "f " : "c ") + std::string{name};
  if (const auto known = answers_.find(key); known != answers_.end()) return known->second;
  auto found = dwarf_->index.find(name, language);
  if (auto missing = dwarf_->data.take_problem()) problems.push_back(std::move(*missing).on(path_));
  if (!found) {
    problems.push_back(std::move(found).error().on(path_));
    found = std::optional<structure_layout>{};
  }
  if (*found) {
    (*found)->source = dwarf_->source;
    (*found)->module_path = path_;
    if (dwarf_->source != layout_source::dwarf) (*found)->debug_file = dwarf_->file_name;
  }
  // An untrusted library chooses the names, so the number of answers is limited.
  constexpr std::size_t max_answers = 65536;
  if (answers_.size() >= max_answers) answers_.clear();
  return answers_[key] = std::move(*found);
}

}  // namespace mpiacq::elf
