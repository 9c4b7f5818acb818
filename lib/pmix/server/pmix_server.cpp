// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "server/pmix_server.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "mpiacq/base/remedies.hpp"
#include "proc/proc_text.hpp"
#include "proc/process_folder.hpp"
#include "server/rendezvous_file.hpp"

namespace mpiacq::pmix {

namespace {

/// A starter with a thousand libraries has less.
constexpr std::size_t most_of_maps = 16U << 20U;
constexpr std::string_view deleted_mark = " (deleted)";

std::string_view take_field(std::string_view& line) {
  const std::string_view field = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.find_first_not_of(' ', field.size()), line.size()));
  return field;
}

std::optional<std::uint64_t> number_in(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (wrong != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "begin-end mode offset major:minor inode path"
std::optional<mapped_library> library_in_line(std::string_view line) {
  const std::size_t folder_end = line.rfind('/');
  if (folder_end == std::string_view::npos || !line.substr(folder_end + 1).starts_with("libpmix.so"))
    return std::nullopt;
  for (int i = 0; i < 3; ++i) (void)take_field(line);
  const std::string_view device = take_field(line);
  const std::string_view inode = take_field(line);
  const std::size_t colon = device.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto major = number_in(device.substr(0, colon), 16), minor = number_in(device.substr(colon + 1), 16);
  const auto file = number_in(inode, 10);
  if (!major || !minor || !file || !line.starts_with('/')) return std::nullopt;
  mapped_library found{std::string(line), ::makedev(static_cast<unsigned>(*major), static_cast<unsigned>(*minor)),
                       *file};
  if (line.ends_with(deleted_mark)) {
    found.is_deleted = true;
    found.path.resize(found.path.size() - deleted_mark.size());
  }
  return found;
}

result<std::string> maps_of(const process_facts& process) {
  return read_process_file(process.pid(), "maps", most_of_maps);
}

std::string named(const process_facts& process) {
  return fmt::format("the PMIx server {}", process.pid().value());
}

error not_loadable(const process_facts& process, const mapped_library& library, std::string_view why) {
  return error{error_code::unsupported, fmt::format("{} uses the library {}, which this program does not load: {}",
                                                    named(process), library.path, why)}
      .on(library.path);
}

bool is_same_root(const process_facts& process) {
  struct stat theirs {};
  struct stat ours {};
  const std::string root = fmt::format("{}/{}/root/.", proc_folder, process.pid().value());
  return ::stat(root.c_str(), &theirs) == 0 && ::stat("/", &ours) == 0 && theirs.st_dev == ours.st_dev &&
         theirs.st_ino == ours.st_ino;
}

result<void> check_library(const process_facts& process, const mapped_library& library) {
  const auto& theirs = process.namespaces();
  if (!theirs) return fail(theirs.error());
  const auto self = TRY(process_facts::open(process_id{::getpid()}));
  const auto& ours = self.namespaces();
  if (ours && theirs->mnt != ours->mnt) {
    return fail(not_loadable(process, library,
                             "the server is in another mount namespace (a container), where the path "
                             "may lead to another file"));
  }
  if (!is_same_root(process)) {
    return fail(not_loadable(process, library, "the server has another root folder than this program"));
  }
  struct stat file {};
  const bool is_there = ::stat(library.path.c_str(), &file) == 0;
  if (library.is_deleted || !is_there || file.st_ino != library.inode) {
    return fail(not_loadable(process, library, "the file was removed or replaced since the server has loaded it"));
  }
  return {};
}

/// Where a server may have put its rendezvous file: in its folder for temporary files, or where its rank says.
std::vector<std::string> rendezvous_folders(const process_facts& process, const std::optional<told_by_rank>& rank) {
  std::vector<std::string> folders;
  const auto add = [&](std::string_view folder) {
    const bool is_new = std::find(folders.begin(), folders.end(), folder) == folders.end();
    if (folder.starts_with('/') && is_new) folders.emplace_back(folder);
  };
  for (const char* name : {"TMPDIR", "TEMP", "TMP", "PMIX_SERVER_TMPDIR"}) add(process.variable(name).value_or(""));
  add("/tmp");
  if (rank) add(rank->folder);
  return folders;
}

std::optional<rendezvous> rendezvous_in(const std::vector<std::string>& folders, const process_facts& process) {
  for (const std::string& folder : folders) {
    if (auto found = find_rendezvous(folder, process.pid(), process.user())) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<mapped_library> pmix_library_in(std::string_view maps) {
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    if (auto found = library_in_line(line)) return found;
  }
  return std::nullopt;
}

told_by_rank server_in_environment(std::string_view environment) {
  told_by_rank told;
  constexpr std::array<const char*, 6> names = {"PMIX_SERVER_URI51", "PMIX_SERVER_URI5", "PMIX_SERVER_URI41",
                                                "PMIX_SERVER_URI4",  "PMIX_SERVER_URI3", "PMIX_SERVER_URI21"};
  for (const char* name : names) {
    const auto value = variable_in(environment, name);
    if (!value || !is_pmix_uri(*value)) continue;
    told.uri = *value;
    break;
  }
  told.version = variable_in(environment, "PMIX_VERSION").value_or("");
  told.folder = variable_in(environment, "PMIX_SERVER_TMPDIR").value_or("");
  told.nspace = variable_in(environment, "PMIX_NAMESPACE").value_or("");
  return told;
}

bool uses_pmix(const process_facts& process) {
  const auto maps = maps_of(process);
  return maps && pmix_library_in(*maps).has_value();
}

result<std::optional<pmix_server>> find_server(const process_pointer& process,
                                               const std::optional<told_by_rank>& rank) {
  const std::string maps = TRY(maps_of(*process));
  const auto library = pmix_library_in(maps);
  if (!library) return std::nullopt;
  pmix_server found{process, library->path, {}, {}};
  const auto folders = rendezvous_folders(*process, rank);
  if (auto file = rendezvous_in(folders, *process)) {
    found.uri = std::move(file->uri);
    found.version = std::move(file->version);
  } else if (rank && !rank->uri.empty()) {
    found.uri = rank->uri;
    found.version = rank->version;
  } else {
    return fail(error_code::not_found,
                fmt::format("{} has no rendezvous file for tools in {}, and no rank of it on this node says where it "
                            "listens",
                            named(*process), fmt::join(folders, ", ")));
  }
  TRY(check_library(*process, *library));
  if (!process->is_unchanged()) {
    return fail(error_code::process_gone, fmt::format("{} has ended meanwhile", named(*process)));
  }
  return found;
}

std::optional<error> known_harm_of(const pmix_server& server) {
  // PRRTE 5.0rc with PMIx 7.0.0rc1: the starter hung, or ended with another status, at the end of its job, after a tool
  // had been killed while it connected.
  constexpr std::string_view candidate = "7.0.0rc";
  if (!server.version.starts_with(candidate)) return std::nullopt;
  return error{
      error_code::unsupported,
      fmt::format("{} has version {}: its job can hang at its end if a tool that asks is killed, so the server "
                  "was not asked; if that may happen to the job, {}",
                  named(*server.process), server.version, remedies::choose_pmix)};
}

}  // namespace mpiacq::pmix
