// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "queue_library.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <sstream>
#include <string_view>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "errors/try.hpp"
#include "handles/mpi_abi.hpp"
#include "local_targets.hpp"
#include "mpiacq/base/remedies.hpp"
#include "mpiacq/mpi2dd/mpi2dd_info.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/linker_cache.hpp"
#include "mpiacq/process/tracer.hpp"
#include "proc/process_state.hpp"
#include "text/file_name.hpp"

namespace mpiacq {

namespace {

constexpr std::size_t max_path = 4096;
constexpr std::size_t most_locations = 64;
constexpr std::size_t most_folders = 64;
constexpr std::string_view locations_name = "mpimsgq_dll_locations";
/// The library that debuggers load if an MPI names none (Message Queue Dumping 1.06, "Startup").
constexpr std::string_view default_name = "libtvmpich.so";

std::string_view dll_name() {
  return mpir::known_symbols()[static_cast<std::size_t>(mpir::known::dll_name)].name;
}

/// The text in an array of characters; empty if the array has no terminating null.
std::string text_in(std::span<const std::byte> array) {
  std::string text;
  for (const std::byte one : array) {
    const auto c = std::to_integer<unsigned char>(one);
    if (c == 0) return text;
    if (c < 0x20 || c == 0x7f) return {};
    text += static_cast<char>(c);
  }
  return {};
}

/// The text of a variable that is an array of characters or, in one launcher, a pointer to them. If the array is as
/// long as a pointer, it is an array if its bytes are the name of a shared object, or if they are text and point to
/// nothing.
std::optional<std::string> text_of(const symbol& variable, memory_reader& memory, const target_abi& abi) {
  target_address at = variable.address();
  std::string own;
  if (variable.size == abi.pointer_size) {
    std::array<std::byte, sizeof(std::uint64_t)> bytes{};
    const auto array = std::span{bytes}.first(abi.pointer_size);
    if (!read_exact(memory, at, array)) return std::nullopt;
    own = text_in(array);
    if (own.find(".so") != std::string::npos) return own;
    at = target_address{decode_unsigned(array, abi.order)};
  }
  auto path = at.is_null() ? result<std::string>(std::string{}) : read_c_string(memory, at, max_path);
  if (path && !path->empty()) return std::move(*path);
  return own.empty() ? std::nullopt : std::optional{std::move(own)};
}

/// Reads a null-terminated array of strings that a pointer variable points to.
std::vector<std::string> listed_in(const symbol& variable, memory_reader& memory, const target_abi& abi) {
  std::vector<std::string> paths;
  const auto array = read_pointer(memory, abi, variable.address());
  for (std::size_t i = 0; array && !array->is_null() && i < most_locations; ++i) {
    const auto text = read_pointer(memory, abi, *array + i * abi.pointer_size);
    if (!text || text->is_null()) break;
    if (auto path = read_c_string(memory, *text, max_path); path && !path->empty()) paths.push_back(std::move(*path));
  }
  return paths;
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat one {};
  struct stat other {};
  return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

/// Resolves symbolic links below `root`, as a process with that root does.
bool is_file(const std::string& path, const std::string& root) {
  struct stat facts {};
  if (root.empty()) return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
  const base::unique_fd folder{::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  const base::unique_fd file{static_cast<int>(::syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof how))};
  return file && ::fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode);
}

/// The folder of the MPI library; empty if the program has none.
std::string mpi_folder(const process_symbols& symbols, const std::optional<symbol>& named) {
  if (named) return std::string{base::folder_of(named->home->path)};
  const auto modules = symbols.modules();
  const auto library =
      std::find_if(modules.begin(), modules.end(), [](const auto& one) { return is_mpi_library(one->path); });
  return library == modules.end() ? std::string{} : std::string{base::folder_of((*library)->path)};
}

/// The folders in which the rank's dynamic linker searches for a name without a folder: that of its MPI library, its
/// LD_LIBRARY_PATH, and the folders of its other libraries, which stand for its run paths. `file_of` searches the
/// linker's cache after these.
std::vector<std::string> search_path(process_id rank, const process_symbols& symbols, const std::string& mpi_folder) {
  std::vector<std::string> folders;
  const auto add = [&](std::string_view named) {
    if (!named.starts_with('/')) return;
    std::string folder(named);
    if (!folder.ends_with('/')) folder += '/';
    const bool known = std::find(folders.begin(), folders.end(), folder) != folders.end();
    if (!known && folders.size() < most_folders) folders.push_back(std::move(folder));
  };
  add(mpi_folder);
  std::istringstream own(environment_of(rank, "LD_LIBRARY_PATH").value_or(""));
  for (std::string folder; std::getline(own, folder, ':');) add(folder);
  for (const auto& one : symbols.modules()) {
    if (!one->is_executable) add(base::folder_of(one->path));
  }
  for (const char* folder : {"/usr/local/lib/", "/lib/", "/usr/lib/", "/lib64/", "/usr/lib64/"}) add(folder);
  return folders;
}

bool ignores_queues(const mpi2dd::process_info& info) {
  return info.block.mpi_flags.has(mpi2dd::mpi_flag::ignore_queue);
}
/// The library for debuggers with this program's pointer size, whatever the target's is.
std::string library_in(const mpi2dd::process_info& info) {
  return (sizeof(void*) == 4 ? info.queue_library_32 : info.queue_library_64).value_or("");
}

std::optional<mpi2dd::process_info> info_of(const local_targets& targets, process_id pid) {
  const auto opened = targets.open(targets.host(), pid, {});
  if (!opened) return std::nullopt;
  auto read = mpi2dd::read_info((*opened)->as_target());
  return read ? std::move(*read) : std::nullopt;
}

}  // namespace

namespace {

/// The library name in the MPI2DD info block of the rank or, failing that, of its starter. "" if neither has an info
/// block with a name; an error if the info block says that there is nothing to show.
result<std::string> mpi2dd_name(process_symbols& symbols, memory_reader& memory, std::optional<process_id> starter) {
  const auto own = mpi2dd::read_info(target{memory, nullptr, symbols.abi(), symbols});
  if (!own || !*own) return std::string{};
  const auto starters = starter ? info_of(local_targets{}, *starter) : std::nullopt;
  if (ignores_queues(**own) || (starters && ignores_queues(*starters))) {
    return fail(error_code::unsupported,
                fmt::format("{} says that it has no message queues to be shown ({}); to ask one all the same, {}",
                            ignores_queues(**own) ? "its MPI2DD_info" : "its starter's MPI2DD_info",
                            mpi2dd::name(mpi2dd::mpi_flag::ignore_queue), remedies::name_queue_library));
  }
  std::string library = library_in(**own);
  return library.empty() && starters ? library_in(*starters) : library;
}

/// The names that a rank gives for its queue library.
struct library_names {
  std::vector<std::string> names;    ///< in order of preference
  bool are_told = false;             ///< the rank or its starter names them; false: the default name of debuggers
  std::vector<std::string> folders;  ///< the search path for names without a folder; empty if each name has one
};

result<library_names> names_of(process_id rank, process_symbols& symbols, memory_reader& memory,
                               std::optional<process_id> starter) {
  auto newer = TRY(mpi2dd_name(symbols, memory, starter));
  const std::array<std::string_view, 2> variables = {dll_name(), locations_name};
  auto found = TRY(symbols.find_symbols(variables));
  const auto& [named, locations] = std::tie(found[0], found[1]);
  library_names said;
  if (!newer.empty()) said.names.push_back(std::move(newer));
  const bool is_said_by_mpir = said.names.empty();
  if (is_said_by_mpir && locations) said.names = listed_in(*locations, memory, symbols.abi());
  if (is_said_by_mpir && named) {
    if (auto path = text_of(*named, memory, symbols.abi())) said.names.push_back(std::move(*path));
  }
  const std::string beside = mpi_folder(symbols, named);
  said.are_told = !said.names.empty();
  if (!said.are_told && !beside.empty()) said.names.emplace_back(default_name);
  const bool any_bare = std::any_of(said.names.begin(), said.names.end(),
                                    [](const std::string& name) { return name.find('/') == std::string::npos; });
  if (any_bare) said.folders = search_path(rank, symbols, beside);
  return said;
}

/// The first of these files that exists; empty if none does. `root`: the root of a rank in a container, or empty.
std::string file_of(const library_names& said, const std::string& root) {
  for (const std::string& name : said.names) {
    if (name.find('/') != std::string::npos) {
      if (is_file(name, root)) return name;
      continue;
    }
    for (const std::string& folder : said.folders) {
      if (is_file(folder + name, root)) return folder + name;
    }
    for (std::string& file : files_in_linker_cache(name, root)) {
      if (is_file(file, root)) return std::move(file);
    }
  }
  return {};
}

}  // namespace

std::string root_of_container(process_id pid) {
  const std::string root = fmt::format("/proc/{}/root", pid.value());
  return is_same_file(root, "/proc/self/root") &&
                 is_same_file(fmt::format("/proc/{}/ns/mnt", pid.value()), "/proc/self/ns/mnt")
             ? std::string{}
             : root;
}

std::optional<std::string> queue_library_of(process_id pid, std::optional<process_id> starter) {
  process_memory memory(pid);
  page_cache cache(memory);
  auto symbols = process_symbols::open(pid, cache);
  if (!symbols) return std::nullopt;
  const auto said = names_of(pid, **symbols, cache, starter);
  if (!said || said->names.empty()) return std::nullopt;
  std::string file = file_of(*said, root_of_container(pid));
  if (!file.empty()) return file;
  return said->are_told ? std::optional{said->names.front()} : std::nullopt;
}

result<std::string> find_queue_library(process_id rank, process_symbols& symbols, memory_reader& memory,
                                       std::optional<process_id> starter) {
  const auto said = TRY(names_of(rank, symbols, memory, starter));
  if (std::string file = file_of(said, root_of_container(rank)); !file.empty()) return file;
  std::string tried = fmt::format("{}", fmt::join(said.names, ", "));
  if (!said.folders.empty()) {
    tried += fmt::format(", looked for in {} and the dynamic linker's cache", fmt::join(said.folders, ", "));
  }
  if (said.are_told) {
    return fail(error_code::not_found, fmt::format("the message-queue library that it names is not there ({}); {}",
                                                   tried, remedies::name_queue_library));
  }
  const std::string_view why =
      said.names.empty() ? "it has no MPI library loaded" : "its MPI names no message-queue library";
  return fail(error_code::not_found,
              fmt::format("{} ({} is not there{}{}); {}", why, dll_name(), tried.empty() ? "" : ", nor is ", tried,
                          remedies::name_queue_library));
}

}  // namespace mpiacq
