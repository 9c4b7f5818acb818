// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "debug_files.hpp"

namespace mpiacq::debug_info {

namespace {

struct end_session {
  void operator()(Dwfl* session) const { dwfl_end(session); }
};

int no_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) {
  return -1;
}

/// libdwfl keeps to itself where the client's cache has put the file.
std::string name_of(int descriptor) {
  std::error_code ignored;
  const auto path = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor), ignored);
  return ignored ? "the file that debuginfod gave" : path.string();
}

}  // namespace

std::optional<elf::image> ask_debuginfod(const std::vector<std::byte>& build_id) {
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || *servers == '\0' || build_id.empty()) return std::nullopt;

  // libdwfl's standard search takes a build id first to local folders and then to the servers. We have been to the
  // folders: a relative one keeps it from looking there again, because it takes build ids to absolute ones only.
  static char nowhere[] = "-.";
  static char* path = nowhere;
  Dwfl_Callbacks callbacks{};
  callbacks.find_elf = no_file;
  callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
  callbacks.debuginfo_path = &path;
  const std::unique_ptr<Dwfl, end_session> session{dwfl_begin(&callbacks)};
  if (!session) return std::nullopt;
  dwfl_report_begin(session.get());
  Dwfl_Module* module = dwfl_report_module(session.get(), "module", 0x1000, 0x2000);
  if (module == nullptr) return std::nullopt;
  const auto* bits = reinterpret_cast<const unsigned char*>(build_id.data());
  if (dwfl_module_report_build_id(module, bits, build_id.size(), 0) != 0) return std::nullopt;
  dwfl_report_end(session.get(), nullptr, nullptr);

  char* file_name = nullptr;
  const int descriptor = dwfl_standard_find_debuginfo(module, nullptr, "module", 0, nullptr, nullptr, 0, &file_name);
  const std::unique_ptr<char, decltype(&std::free)> name{file_name, &std::free};
  if (descriptor < 0) return std::nullopt;
  auto file = elf::input_file::adopt(descriptor, name ? name.get() : name_of(descriptor));
  if (!file) return std::nullopt;
  auto opened = elf::image::open(std::move(*file));
  if (!opened || opened->build_id() != build_id) return std::nullopt;
  return std::move(*opened);
}

}  // namespace mpiacq::debug_info
