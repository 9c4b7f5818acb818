// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "helper/programs.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "text/file_name.hpp"

namespace mpiacq::base {

namespace {

/// The folder of the shared library with this code. In a statically linked program, the path is the name by which the
/// program was called, which may not be a path.
std::string library_folder() {
  Dl_info where{};
  if (::dladdr(reinterpret_cast<const void*>(&program_candidates), &where) == 0) return {};
  const std::string_view file = where.dli_fname == nullptr ? "" : where.dli_fname;
  return file.starts_with('/') ? std::string{folder_of(file)} : std::string{};
}

std::string program_folder() {
  char target[4096];
  const ssize_t length = ::readlink("/proc/self/exe", target, sizeof target);
  return length > 0 ? std::string{folder_of({target, static_cast<std::size_t>(length)})} : std::string{};
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::vector<std::string> program_candidates(std::string_view program, const std::string& named) {
  if (!named.empty()) return {named};
  std::vector<std::string> all;
  // Not if the tool has more rights than its user: the user must not choose a program that runs with those rights.
  if (const char* folder = ::secure_getenv("MPIACQ_LIBEXEC")) all.push_back(fmt::format("{}/{}", folder, program));
  if (const std::string folder = library_folder(); !folder.empty()) {
    all.push_back(fmt::format("{}{}/{}", folder, MPIACQ_LIBEXEC_FROM_LIB, program));
  }
  if (const std::string folder = program_folder(); !folder.empty()) {
    all.push_back(fmt::format("{}{}/{}", folder, MPIACQ_LIBEXEC_FROM_BIN, program));
  }
  all.push_back(fmt::format("{}/{}", MPIACQ_LIBEXEC, program));
  return all;
}

error not_startable(std::string_view what_for, const std::vector<std::string>& candidates, int errno_value) {
  return error{
      errno_value == ENOENT ? error_code::not_found : error_code::system,
      fmt::format("{} cannot be started (looked for as {}); it is installed with the library, and MPIACQ_LIBEXEC "
                  "may name its folder",
                  what_for, fmt::join(candidates, ", "))}
      .with_errno(errno_value)
      .on(candidates.back());
}

spawn_plan::spawn_plan() {
  ::posix_spawn_file_actions_init(&files_);
  ::posix_spawnattr_init(&attributes_);
}

spawn_plan::~spawn_plan() {
  ::posix_spawn_file_actions_destroy(&files_);
  ::posix_spawnattr_destroy(&attributes_);
}

void spawn_plan::block_signals() {
  set_signals(true);
}

void spawn_plan::default_signals() {
  set_signals(false);
}

void spawn_plan::set_signals(bool blocked) {
  sigset_t all;
  ::sigfillset(&all);
  ::posix_spawnattr_setsigdefault(&attributes_, &all);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes_, blocked ? &all : &none);
  add_flags(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

void spawn_plan::own_group() {
  ::posix_spawnattr_setpgroup(&attributes_, 0);
  add_flags(POSIX_SPAWN_SETPGROUP);
}

void spawn_plan::add_flags(short flags) {
  short known = 0;
  ::posix_spawnattr_getflags(&attributes_, &known);
  ::posix_spawnattr_setflags(&attributes_, static_cast<short>(known | flags));
}

void spawn_plan::open(int descriptor, const char* path, int flags) {
  ::posix_spawn_file_actions_addopen(&files_, descriptor, path, flags, 0);
}

void spawn_plan::give(int descriptor, int from) {
  ::posix_spawn_file_actions_adddup2(&files_, from, descriptor);
}

int spawn_plan::run(pid_t& id, const std::vector<std::string>& candidates, std::vector<std::string> arguments,
                    char* const* environment) {
  auto pointers = pointers_to(arguments);
  int outcome = ENOENT;
  for (const std::string& program : candidates) {
    outcome = ::posix_spawn(&id, program.c_str(), &files_, &attributes_, pointers.data(), environment);
    if (outcome != ENOENT && outcome != ENOTDIR) break;
  }
  return outcome;
}

int spawn_plan::run_from_path(pid_t& id, std::vector<std::string> arguments, char* const* environment) {
  auto pointers = pointers_to(arguments);
  return ::posix_spawnp(&id, pointers.front(), &files_, &attributes_, pointers.data(), environment);
}

}  // namespace mpiacq::base
