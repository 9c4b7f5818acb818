// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "queue_library.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "local_targets.hpp"
#include "mpiacq/mpi2dd_info.hpp"
#include "mpiacq/mpir.hpp"
#include "mpiacq/remedies.hpp"
#include "mpiacq/tracer.hpp"

namespace mpiacq {

namespace {

constexpr std::size_t max_path = 4096;
constexpr std::size_t most_locations = 64;
constexpr std::string_view locations_name = "mpimsgq_dll_locations";
/// What debuggers load where an MPI names nothing (Message Queue Dumping 1.06, "Startup").
constexpr std::string_view default_name = "libtvmpich.so";

std::string_view dll_name() {
  return mpir::known_symbols()[static_cast<std::size_t>(mpir::known::dll_name)].name;
}

/// An array of characters; in one launcher a pointer to them.
std::optional<std::string> text_of(const symbol& variable, memory_reader& memory, const target_abi& abi) {
  target_address text = variable.address();
  if (variable.size == abi.pointer_size) {
    const auto pointer = read_pointer(memory, abi, text);
    if (!pointer || pointer->is_null()) return std::nullopt;
    text = *pointer;
  }
  auto path = read_c_string(memory, text, max_path);
  if (!path || path->empty()) return std::nullopt;
  return std::move(*path);
}

/// A pointer to an array of strings that ends with a null.
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

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
}

bool is_file(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

/// Where the MPI library is: beside it are the names that have no folder. Empty where the program has none.
std::string mpi_folder(const process_symbols& symbols, const std::optional<symbol>& named) {
  if (named) return folder_of(named->home->path);
  const auto modules = symbols.modules();
  const auto library = std::find_if(modules.begin(), modules.end(), [](const auto& one) {
    return one->path.substr(folder_of(one->path).size()).starts_with("libmpi");
  });
  return library == modules.end() ? std::string{} : folder_of((*library)->path);
}

bool ignores_queues(const mpi2dd::process_info& info) {
  return info.block.mpi_flags.has(mpi2dd::mpi_flag::ignore_queue);
}
/// The library for debuggers of our width, whatever the target's is.
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

std::optional<std::string> queue_library_of(process_id pid) {
  process_memory memory(pid);
  page_cache cache(memory);
  auto symbols = process_symbols::open(pid, cache);
  if (!symbols) return std::nullopt;
  const auto found = (*symbols)->find_symbol(dll_name());
  if (!found || !*found) return std::nullopt;
  return text_of(**found, cache, (*symbols)->abi());
}

std::optional<std::string> mpi2dd_queue_library_of(process_id rank, process_id starter) {
  const local_targets targets;
  for (const process_id pid : {rank, starter}) {
    const auto info = info_of(targets, pid);
    if (!info) continue;
    if (ignores_queues(*info)) return std::nullopt;
    if (auto library = library_in(*info); !library.empty()) return library;
  }
  return std::nullopt;
}

namespace {

/// What MPI2DD says, of the rank and then of its starter: a name, "" where there is none, or that nothing is to be
/// shown.
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

}  // namespace

result<std::string> find_queue_library(process_symbols& symbols, memory_reader& memory,
                                       std::optional<process_id> starter) {
  auto newer = mpi2dd_name(symbols, memory, starter);
  if (!newer) return fail(std::move(newer).error());
  const std::array<std::string_view, 2> names = {dll_name(), locations_name};
  auto found = symbols.find_symbols(names);
  if (!found) return fail(std::move(found).error());
  const auto& [named, locations] = std::tie((*found)[0], (*found)[1]);
  std::vector<std::string> candidates;
  if (!newer->empty()) candidates.push_back(std::move(*newer));
  const bool is_said_by_mpir = candidates.empty();
  if (is_said_by_mpir && locations) candidates = listed_in(*locations, memory, symbols.abi());
  if (is_said_by_mpir && named) {
    if (auto path = text_of(*named, memory, symbols.abi())) candidates.push_back(std::move(*path));
  }
  const std::string beside = mpi_folder(symbols, named);
  const bool is_named = !candidates.empty();
  if (!is_named && !beside.empty()) candidates.emplace_back(default_name);
  std::string tried;
  for (std::string& path : candidates) {
    if (path.find('/') == std::string::npos) path.insert(0, beside);
    if (is_file(path)) return std::move(path);
    tried += (tried.empty() ? "" : ", ") + path;
  }
  if (is_named) {
    return fail(error_code::not_found, fmt::format("the message-queue library that it names is not there ({}); {}",
                                                   tried, remedies::name_queue_library));
  }
  const std::string_view why =
      beside.empty() ? "it has no MPI library loaded" : "its MPI names no message-queue library";
  return fail(error_code::not_found,
              fmt::format("{} ({} is not there{}{}); {}", why, dll_name(), tried.empty() ? "" : ", nor is ", tried,
                          remedies::name_queue_library));
}

}  // namespace mpiacq
