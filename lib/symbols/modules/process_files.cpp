// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "modules/process_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "errors/try.hpp"

namespace mpiacq::elf {

namespace {

std::string proc_path(process_id pid, std::string_view what) {
  return fmt::format("/proc/{}/{}", pid.value(), what);
}

error about_process(process_id pid, int why) {
  const bool refused = why == EACCES || why == EPERM;
  if (why == EMFILE || why == ENFILE) {
    return error{
        error_code::system,
        fmt::format("opening the program of process {}: no file descriptor is left (raise ulimit -n)", pid.value())}
        .with_errno(why);
  }
  error e = error{refused ? error_code::permission : error_code::process_gone,
                  fmt::format("opening the program of process {}", pid.value())}
                .with_errno(why);
  e.message +=
      refused ? "; it takes the rights to trace it: its user's or root's, and a kernel.yama.ptrace_scope that allows it"
              : "; it has ended, or is a thread of the kernel";
  return e;
}

/// The open file of the program, and its name as the kernel knows it: any bytes, which may end in " (deleted)".
result<input_file> open_program(process_id pid) {
  const base::unique_fd found{::open(proc_path(pid, "exe").c_str(), O_PATH | O_CLOEXEC)};
  if (!found) return fail(about_process(pid, errno));
  const std::string opened = fmt::format("/proc/self/fd/{}", found.get());
  std::string name(4096 + 32, '\0');
  const ssize_t size = ::readlink(opened.c_str(), name.data(), name.size());
  if (size < 0) return fail(about_process(pid, errno));
  name.resize(static_cast<std::size_t>(size));
  auto file = input_file::open(opened, std::move(name));
  if (!file)
    return fail(std::move(file).error().while_doing(fmt::format("opening the program of process {}", pid.value())));
  return std::move(*file);
}

target_address load_bias(std::span<const segment> segments, const auxiliary_vector& aux, const image& file) {
  const auto headers =
      std::find_if(segments.begin(), segments.end(), [](const segment& s) { return s.type == PT_PHDR; });
  if (headers != segments.end() && !aux.program_headers.is_null()) return aux.program_headers - headers->address;
  return aux.entry - file.header().entry;  // most static programs have no PT_PHDR
}

bool same_file(const std::string& one, const std::string& other) {
  struct stat a {};
  struct stat b {};
  return ::stat(one.c_str(), &a) == 0 && ::stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// The kernel adds " (deleted)" to the name of an executable that has been removed. Another file that has the name by
/// now would mislead a person.
std::optional<error> replaced_program(process_id pid, const std::string& name, const image& running) {
  constexpr std::string_view mark = " (deleted)";
  if (!name.ends_with(mark)) return std::nullopt;
  const std::string root = proc_path(pid, "root");
  const std::string own = proc_path(pid, "exe");
  if (same_file(own, root + name)) return std::nullopt;  // the name itself ends in " (deleted)"
  const std::string path = name.substr(0, name.size() - mark.size());
  struct stat now {};
  if (::stat((root + path).c_str(), &now) != 0 || same_file(own, root + path)) return std::nullopt;
  return error{error_code::bad_format,
               fmt::format("{} was replaced after its start. mpiacq uses the old file, which process {} still runs, "
                           "and not the new file of that name",
                           path, pid.value())}
      .on(running.file().name());
}

}  // namespace

std::vector<file_place> process_files::program_places() const {
  return {};  // the program's file is open from the beginning
}

std::vector<file_place> process_files::library_places(const std::string& name) const {
  // A relative name was passed to dlopen, or comes from a relative LD_LIBRARY_PATH.
  if (name.starts_with('/')) return {{proc_path(pid_, "root"), name, name}};
  return {{{}, proc_path(pid_, "cwd/") + name, name}};
}

/// The kernel's link to the mapping. It needs root's rights, and exists only for the addresses in maps.
std::optional<file_place> process_files::mapped_at(target_address address, const std::string& name) const {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps{std::fopen(proc_path(pid_, "maps").c_str(), "re"),
                                                             &std::fclose};
  if (!maps) return std::nullopt;
  char* line = nullptr;
  std::size_t room = 0;
  std::optional<file_place> place;
  while (::getline(&line, &room, maps.get()) >= 0) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64, &begin, &end) != 2) continue;
    if (address.value() < begin || address.value() >= end) continue;
    place = file_place{{}, proc_path(pid_, fmt::format("map_files/{:x}-{:x}", begin, end)), name};
    break;
  }
  std::free(line);
  return place;
}

std::string process_files::name_at(target_address address) const {
  const auto place = mapped_at(address, {});
  if (!place) return {};
  std::error_code ignored;
  return std::filesystem::read_symlink(place->path, ignored).string();
}

std::vector<std::string> process_files::roots() const {
  const std::string root = proc_path(pid_, "root");
  const bool is_ours = same_file(proc_path(pid_, "ns/mnt"), "/proc/self/ns/mnt") && same_file(root, "/proc/self/root");
  return is_ours ? std::vector<std::string>{} : std::vector<std::string>{root};
}

result<running_program> look_at_process(process_id pid, memory_reader& memory, std::vector<error>& problems) {
  auto file = TRY(open_program(pid));
  std::string name = file.name();
  auto opened = TRY(image::open(std::move(file)));
  if (auto replaced = replaced_program(pid, name, opened)) problems.push_back(std::move(*replaced));
  auto aux = TRY(read_auxiliary_vector(pid, opened.abi()));
  auto segments = TRY(loaded_segments(memory, opened.abi(), aux));
  if (segments.empty()) segments.assign(opened.segments().begin(), opened.segments().end());

  const target_address bias = load_bias(segments, aux, opened);
  running_program program{opened.abi(),
                          std::make_shared<const module>(module{std::move(name), bias, true, opened.build_id()})};
  for (const segment& s : segments) {
    if (s.type == PT_DYNAMIC && !program.dynamic) program.dynamic = bias + s.address;
  }
  program.entry = aux.entry;
  program.interpreter = aux.interpreter;
  program.vdso = aux.vdso;
  program.file = std::make_shared<image>(std::move(opened));
  return program;
}

}  // namespace mpiacq::elf
