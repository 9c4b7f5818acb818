// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <cerrno>
#include <string_view>

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpiacq/base/abi.hpp"
#include "server/child_launch.hpp"

namespace mpiacq::tracing {

namespace {

constexpr std::size_t head_bytes = 256;

std::string head_of(const std::string& path) {
  return read_small_file(path, head_bytes).value_or("");
}

bool is_elf(std::string_view head) {
  return head.substr(0, SELFMAG) == std::string_view{ELFMAG, SELFMAG};
}

/// The program that the interpreter line names; empty if there is none.
std::string_view interpreter_of(std::string_view head) {
  if (head.substr(0, 2) != "#!") return {};
  head = head.substr(2, head.find('\n') - 2);
  head.remove_prefix(std::min(head.find_first_not_of(" \t"), head.size()));
  return head.substr(0, head.find_first_of(" \t\r"));
}

std::string machine_name(unsigned machine) {
  struct known_machine {
    unsigned number;
    std::string_view name;
  };
  constexpr std::array<known_machine, 9> known = {{{EM_386, "32-bit x86"},
                                                   {EM_X86_64, "x86-64"},
                                                   {EM_AARCH64, "aarch64"},
                                                   {EM_ARM, "32-bit Arm"},
                                                   {EM_PPC64, "POWER"},
                                                   {EM_S390, "IBM Z"},
                                                   {EM_RISCV, "RISC-V"},
                                                   {EM_MIPS, "MIPS"},
                                                   {EM_SPARCV9, "SPARC"}}};
  for (const auto& [number, machine_called] : known) {
    if (number == machine) return std::string{machine_called};
  }
  return fmt::format("ELF machine {}", machine);
}

/// The reason why the kernel does not accept an ELF file.
std::string elf_complaint(std::string_view head) {
  constexpr std::size_t machine_at = offsetof(Elf64_Ehdr, e_machine);
  if (head.size() < sizeof(Elf64_Ehdr)) return "is cut off within its ELF header";
  const auto order = head[EI_DATA] == ELFDATA2MSB ? byte_order::big : byte_order::little;
  const auto machine = decode_unsigned(std::as_bytes(std::span{head}.subspan(machine_at, 2)), order);
  const std::string own = read_small_file("/proc/self/exe", head_bytes).value_or("");
  if (own.size() < head_bytes || own[EI_DATA] != head[EI_DATA] ||
      own.substr(machine_at, 2) != head.substr(machine_at, 2)) {
    return fmt::format("is a program for another machine ({})", machine_name(static_cast<unsigned>(machine)));
  }
  return "is a damaged or cut off ELF file, or no program";
}

error not_found(const std::string& name, const std::vector<std::string>& candidates) {
  if (name.find('/') != std::string::npos) {
    return error{error_code::not_found, fmt::format("{}: no such program", name)}.with_errno(ENOENT).on(name);
  }
  return error{error_code::not_found,
               fmt::format("{}: no such program in the {} directories of PATH; give its path, or "
                           "add its directory to PATH",
                           name, candidates.size())}
      .with_errno(ENOENT)
      .on(name);
}

error missing_interpreter(const std::string& path) {
  const std::string head = head_of(path);
  std::string message;
  if (const auto interpreter = interpreter_of(head); !interpreter.empty()) {
    message = fmt::format("{}: its interpreter {} (the line with #!) is not there", path, interpreter);
  } else {
    message = fmt::format("{}: the loader that it asks for (readelf -l: program interpreter) is not there", path);
  }
  return error{error_code::exec_failed, std::move(message)}.with_errno(ENOENT).on(path);
}

error not_allowed(const std::string& path, int errno_value) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) {
    return error{error_code::permission, fmt::format("{}: a directory on the way to it may not be searched", path)}
        .with_errno(errno_value)
        .on(path);
  }
  std::string reason = "may not be run (a file system mounted noexec, or a security policy)";
  if (S_ISDIR(about.st_mode)) {
    reason = "is a directory, no program";
  } else if (!S_ISREG(about.st_mode)) {
    reason = "is no regular file, so no program";
  } else if (::access(path.c_str(), X_OK) != 0) {
    reason = "is not executable (chmod +x)";
  } else if (const auto interpreter = interpreter_of(head_of(path)); !interpreter.empty()) {
    // The kernel also answers EACCES if the interpreter is not executable.
    reason = fmt::format("names an interpreter {} that may not be run", std::string{interpreter});
  }
  return error{error_code::permission, fmt::format("{}: {}", path, reason)}.with_errno(errno_value).on(path);
}

error not_runnable(const std::string& path, int errno_value) {
  const std::string head = head_of(path);
  std::string reason = "is in no format that can be run";
  if (head.empty()) reason = "is empty";
  if (is_elf(head)) reason = elf_complaint(head);
  return error{error_code::exec_failed, fmt::format("{}: {}", path, reason)}.with_errno(errno_value).on(path);
}

}  // namespace

bool is_shell_text(const std::string& path) {
  const std::string head = head_of(path);
  // Shells use the same rule: a text has no null byte in its first line.
  const std::string_view first_line = std::string_view{head}.substr(0, head.find('\n'));
  return !head.empty() && !is_elf(head) && first_line.find('\0') == std::string_view::npos;
}

error exec_error(const std::string& name, const std::vector<std::string>& candidates, const exec_failure& failure) {
  const auto at = static_cast<std::size_t>(failure.candidate);
  const std::string path = at < candidates.size() ? candidates[at] : name;
  switch (failure.errno_value) {
    case ENOENT:
    case ENOTDIR:
      for (const std::string& candidate : candidates) {
        if (::access(candidate.c_str(), F_OK) == 0) return missing_interpreter(candidate);
      }
      return not_found(name, candidates);
    case EACCES:
    case EPERM:
      return not_allowed(path, failure.errno_value);
    case ENOEXEC:
      return not_runnable(path, failure.errno_value);
    default:
      return error{error_code::exec_failed, fmt::format("{} cannot be run", path)}
          .with_errno(failure.errno_value)
          .on(path);
  }
}

}  // namespace mpiacq::tracing
