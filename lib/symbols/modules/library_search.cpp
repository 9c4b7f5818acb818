// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "modules/library_search.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <unordered_set>

#include <elf.h>
#include <fmt/format.h>

#include "errors/try.hpp"

namespace mpiacq::elf {

namespace {

constexpr std::size_t max_libraries = 4096;

struct machine_folder {
  std::uint16_t machine;
  std::uint8_t pointer_size;
  const char* name;
};
/// The folders of Debian and Ubuntu below /lib and /usr/lib.
constexpr std::array<machine_folder, 9> multiarch_folders = {{{EM_X86_64, 8, "x86_64-linux-gnu"},
                                                              {EM_X86_64, 4, "x86_64-linux-gnux32"},
                                                              {EM_386, 4, "i386-linux-gnu"},
                                                              {EM_AARCH64, 8, "aarch64-linux-gnu"},
                                                              {EM_ARM, 4, "arm-linux-gnueabihf"},
                                                              {EM_PPC64, 8, "powerpc64le-linux-gnu"},
                                                              {EM_S390, 8, "s390x-linux-gnu"},
                                                              {EM_RISCV, 8, "riscv64-linux-gnu"},
                                                              {EM_LOONGARCH, 8, "loongarch64-linux-gnu"}}};

std::vector<std::string> split(std::string_view list, std::string_view separators) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(separators), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

/// The folder by which the dynamic linker replaces $ORIGIN: that of the file itself, with all symbolic links resolved.
std::string origin_of(const std::string& path) {
  std::error_code ignored;
  const auto real = std::filesystem::canonical(path, ignored);
  return ignored ? "." : real.parent_path().string();
}

/// The folders of a DT_RPATH or DT_RUNPATH string, with $ORIGIN replaced. Folders with $LIB or $PLATFORM are left out,
/// because only the dynamic linker knows the values.
std::vector<std::string> run_path(const loaded_file& of, const std::optional<std::uint64_t>& offset) {
  if (!offset) return {};
  const auto list = read_dynamic_string(*of.memory, of.dynamic, *offset);
  if (!list) return {};
  std::vector<std::string> folders;
  for (std::string folder : split(*list, ":")) {
    for (const std::string_view token : {"${ORIGIN}", "$ORIGIN"}) {
      for (std::size_t at = folder.find(token); at != std::string::npos; at = folder.find(token)) {
        folder.replace(at, token.size(), origin_of(of.path));
        if (folder.size() > 65536) return folders;
      }
    }
    if (folder.find('$') == std::string::npos) folders.push_back(std::move(folder));
  }
  return folders;
}

std::vector<std::string> folders_of_machine(const loaded_file& program) {
  std::vector<std::string> folders;
  for (const machine_folder& f : multiarch_folders) {
    if (f.machine != program.file->header().abi.elf_machine || f.pointer_size != program.file->abi().pointer_size)
      continue;
    folders.push_back(std::string{"/lib/"} + f.name);
    folders.push_back(std::string{"/usr/lib/"} + f.name);
  }
  if (program.file->abi().pointer_size == 8) folders.insert(folders.end(), {"/lib64", "/usr/lib64"});
  folders.insert(folders.end(), {"/lib", "/usr/lib"});
  return folders;
}

/// Refuses ELF files that cannot become a process, and files that end before their segments end.
result<void> check_program(const image& file) {
  const std::string& name = file.file().name();
  const auto refuse = [&](const std::string& why) -> result<void> {
    return fail(error{error_code::bad_format, fmt::format("{} {}", name, why)}.on(name));
  };
  switch (file.header().type) {
    case ET_EXEC:
    case ET_DYN:
      break;
    case ET_REL:
      return refuse("is an object file that has not been linked");
    case ET_CORE:
      return refuse("is a core file, not a program or library");
    default:
      return refuse(fmt::format("is an ELF file of the unknown type {}", file.header().type));
  }
  if (file.find_segment(PT_LOAD) == nullptr)
    return refuse("has no segment to load (PT_LOAD), so it is no program or library");
  for (const segment& s : file.segments()) {
    if (s.type != PT_LOAD || s.file_size == 0) continue;
    const std::uint64_t size = file.file().size();
    if (s.offset > size || s.file_size > size - s.offset) {
      return refuse(fmt::format("is truncated: a segment of {} bytes begins at {:#x}, but the file ends at {:#x}",
                                s.file_size, s.offset, size));
    }
  }
  return {};
}

}  // namespace

result<loaded_file> load_file(const std::string& path) {
  auto file = TRY(input_file::open(path));
  auto opened = TRY(image::open(std::move(file)));
  TRY(check_program(opened));
  loaded_file loaded{path, std::make_shared<image>(std::move(opened)), nullptr, {}, {}};
  loaded.memory = std::make_shared<image_memory>(loaded.file);
  if (const segment* dynamic = loaded.file->find_segment(PT_DYNAMIC)) {
    loaded.dynamic_address = target_address{dynamic->address};
    auto section = read_dynamic_section(*loaded.memory, loaded.file->abi(), target_address{0}, *loaded.dynamic_address);
    if (!section) return fail(std::move(section).error().while_doing("reading " + path).on(path));
    loaded.dynamic = std::move(*section);
  }
  return loaded;
}

library_search::library_search(const loaded_file& program, ld_so_cache cache)
    : program_(program), cache_(std::move(cache)), default_folders_(folders_of_machine(program)) {
  if (const char* list = std::getenv("LD_LIBRARY_PATH")) environment_folders_ = split(list, ":;");
}

std::vector<std::string> library_search::candidates(const std::string& library, const loaded_file& dependent) const {
  if (library.find('/') != std::string::npos) return {library};
  std::vector<std::string> paths;
  const auto in_folders = [&](const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) paths.push_back(fmt::format("{}/{}", folder, library));
  };
  if (!dependent.dynamic.runpath) {  // DT_RUNPATH disables every DT_RPATH
    in_folders(run_path(dependent, dependent.dynamic.rpath));
    if (!program_.dynamic.runpath) in_folders(run_path(program_, program_.dynamic.rpath));
  }
  in_folders(environment_folders_);
  in_folders(run_path(dependent, dependent.dynamic.runpath));
  const auto cached = cache_.find(library);
  paths.insert(paths.end(), cached.begin(), cached.end());
  in_folders(default_folders_);
  return paths;
}

std::optional<loaded_file> library_search::find(const std::string& library, const loaded_file& dependent) {
  for (const std::string& path : candidates(library, dependent)) {
    auto loaded = load_file(path);
    // A file of another class or machine is skipped, as by the dynamic linker.
    if (loaded && loaded->file->abi() == program_.file->abi() && loaded->file->header().type == ET_DYN) {
      return std::move(*loaded);
    }
  }
  return std::nullopt;
}

std::vector<loaded_file> library_search::all_libraries(std::vector<error>& problems) {
  std::vector<loaded_file> libraries;
  std::unordered_set<std::string> asked_for;
  // The list grows during the loop: the program's libraries come first, then the libraries of each of them.
  for (std::size_t i = 0; i <= libraries.size(); ++i) {
    const loaded_file dependent = i == 0 ? program_ : libraries[i - 1];
    for (const std::uint64_t offset : dependent.dynamic.needed) {
      auto name = read_dynamic_string(*dependent.memory, dependent.dynamic, offset);
      if (!name) {
        problems.push_back(std::move(name)
                               .error()
                               .while_doing("reading which libraries " + dependent.path + " needs")
                               .on(dependent.path));
        continue;
      }
      if (!asked_for.insert(*name).second) continue;
      if (libraries.size() == max_libraries) {
        problems.emplace_back(error_code::limit, fmt::format("{} needs more than {} libraries; the others are ignored",
                                                             program_.path, max_libraries));
        return libraries;
      }
      auto found = find(*name, dependent);
      if (found) {
        libraries.push_back(std::move(*found));
      } else {
        problems.push_back(error{error_code::not_found,
                                 fmt::format("the library {}, which {} needs, is not found", *name, dependent.path)}
                               .on(*name));
      }
    }
  }
  return libraries;
}

}  // namespace mpiacq::elf
