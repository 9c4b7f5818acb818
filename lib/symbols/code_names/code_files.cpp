// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "code_names/code_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "modules/loaded_headers.hpp"
#include "modules/process_files.hpp"

namespace mpiacq::elf {

namespace {

std::optional<file_identity> look_at(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) return std::nullopt;
  return file_identity{s.st_dev, s.st_ino, static_cast<std::uint64_t>(s.st_size), s.st_mtim.tv_sec, s.st_mtim.tv_nsec};
}

std::string proc_path(const code_map_state& map, std::string_view what) {
  return fmt::format("/proc/{}/{}", map.pid.value(), what);
}

const code_mapping& mapping_of(const code_map_state& map, std::size_t file) {
  const auto& code = map.mappings.code;
  return *std::find_if(code.begin(), code.end(), [&](const code_mapping& m) { return m.file == file; });
}

/// The module's first page in the process's memory; empty if it is not mapped or cannot be read.
std::vector<std::byte> first_page(const code_map_state& map, std::size_t file) {
  std::vector<std::byte> page;
  const std::uint64_t begin = map.mappings.first_pages[file];
  if (begin == 0) return page;
  page.resize(read_page_size);
  memory_range range{target_address{begin}, page};
  const auto read = map.memory->read_ranges({&range, 1});
  page.resize(read ? range.got : 0);
  return page;
}

error not_the_one(const mapped_file& file, process_id pid) {
  return error{
      error_code::bad_format,
      fmt::format(
          "{} was replaced or deleted since process {} mapped it: the file of that name is another one and is not "
          "used, and its code has no names",
          file.path, pid.value())}
      .on(file.path);
}

/// The file under the module's name as the process has it, if its headers are equal to those in memory: on some file
/// systems (overlayfs, btrfs), stat and maps show different devices or inodes.
std::optional<found_file> by_headers(const code_map_state& map, std::size_t number, std::vector<error>& problems) {
  const mapped_file& file = *map.mappings.files[number];
  auto named = input_file::open_below(proc_path(map, "root"), file.path, file.path);
  if (!named) {
    problems.push_back(named.error().code == error_code::permission ? std::move(named).error()
                                                                    : not_the_one(file, map.pid));
    return std::nullopt;
  }
  const auto seen = look_at(fmt::format("/proc/self/fd/{}", named->descriptor()));
  auto opened = image::open(std::move(*named));
  if (!opened || !seen) {
    problems.push_back(not_the_one(file, map.pid));
    return std::nullopt;
  }
  const auto page = first_page(map, number);
  const auto headers = headers_in(page, opened->abi());
  if (compare(headers, *opened) != sameness::same) {
    problems.push_back(not_the_one(file, map.pid));
    return std::nullopt;
  }
  return found_file{{}, std::make_shared<image>(std::move(*opened)), *seen};
}

}  // namespace

std::optional<found_file> find_without_memory(const code_map_state& map, std::size_t number) {
  const mapped_file& file = *map.mappings.files[number];
  const code_mapping& mapping = mapping_of(map, number);
  // The kernel's link needs root's rights, and always leads to the mapped file.
  const std::string link = proc_path(map, fmt::format("map_files/{:x}-{:x}", mapping.begin, mapping.end));
  if (const auto seen = look_at(link)) return found_file{link, nullptr, *seen};
  // The program's own link leads to its file even if the name has been removed.
  for (const std::string& path : {proc_path(map, "exe"), proc_path(map, "root") + file.path}) {
    const auto seen = look_at(path);
    if (seen && seen->inode == file.inode && seen->device == file.device) return found_file{path, nullptr, *seen};
  }
  return std::nullopt;
}

std::optional<found_file> find_mapped_file(const code_map_state& map, std::size_t number,
                                           std::vector<error>& problems) {
  if (auto found = find_without_memory(map, number)) return found;
  return by_headers(map, number, problems);
}

std::shared_ptr<image> copy_of_vdso(const code_map_state& map, std::size_t number, std::vector<error>& problems) {
  constexpr std::uint64_t max_bytes = 1U << 20;
  const code_mapping& mapping = mapping_of(map, number);
  const std::string& name = map.mappings.files[number]->path;
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(mapping.end - mapping.begin, max_bytes)));
  if (auto read = read_exact(*map.memory, target_address{mapping.begin}, bytes); !read) {
    problems.push_back(std::move(read).error().on(name));
    return nullptr;
  }
  const int descriptor = ::memfd_create("vdso", MFD_CLOEXEC);
  if (descriptor < 0 || ::write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    const int why = errno;
    if (descriptor >= 0) ::close(descriptor);
    problems.push_back(error{error_code::system, "allocating a copy of the vDSO"}.with_errno(why).on(name));
    return nullptr;
  }
  auto file = input_file::adopt(descriptor, name);
  if (!file) return nullptr;
  auto opened = image::open(std::move(*file));
  if (!opened) {
    problems.push_back(std::move(opened).error());
    return nullptr;
  }
  return std::make_shared<image>(std::move(*opened));
}

std::vector<std::string> roots_of_process(process_id pid) {
  return process_files{pid}.roots();
}

}  // namespace mpiacq::elf
