// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "server/rendezvous_file.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "descriptors/unique_fd.hpp"
#include "proc/proc_text.hpp"
#include "proc/process_folder.hpp"

namespace mpiacq::pmix {

namespace {

using base::unique_fd;

constexpr std::size_t longest_uri = 1024;
constexpr std::size_t longest_rendezvous = 4096;
/// A folder for temporary files may have any number of entries. Those whose names fit are few.
constexpr std::size_t most_entries = 1U << 20U;
constexpr std::size_t most_fitting = 64;

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

struct directory_closer {
  void operator()(DIR* open) const { ::closedir(open); }
};

/// The names in an open folder that `fits`.
template <class Fits>
std::vector<std::string> names_in(int folder, Fits fits) {
  std::vector<std::string> names;
  unique_fd own{::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!own) return names;
  const std::unique_ptr<DIR, directory_closer> open(::fdopendir(own.get()));
  if (!open) return names;
  (void)own.release();
  for (std::size_t i = 0; i < most_entries && names.size() < most_fitting; ++i) {
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr) break;
    if (fits(std::string_view(entry->d_name))) names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool belongs_to(int file, user_id user, mode_t kind) {
  struct stat facts {};
  return ::fstat(file, &facts) == 0 && (facts.st_mode & S_IFMT) == kind && user_id{facts.st_uid} == user;
}

std::optional<rendezvous> read_in(int folder, process_id server, user_id user) {
  const auto fits = [](std::string_view name) {
    return name.starts_with("pmix.") && name.find(".tool") != std::string_view::npos;
  };
  for (const std::string& name : names_in(folder, fits)) {
    const unique_fd file{::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (!file || !belongs_to(file.get(), user, S_IFREG)) continue;
    auto found = parse_rendezvous(read_bounded(file, longest_rendezvous).value_or(""));
    if (found && found->pid == server) return found;
  }
  return std::nullopt;
}

/// Whether a number stands in a name, and no digit beside it.
bool has_number(std::string_view name, std::string_view number) {
  const auto is_digit = [&](std::size_t at) { return at < name.size() && name[at] >= '0' && name[at] <= '9'; };
  for (std::size_t at = name.find(number); at != std::string_view::npos; at = name.find(number, at + 1)) {
    if ((at == 0 || !is_digit(at - 1)) && !is_digit(at + number.size())) return true;
  }
  return false;
}

}  // namespace

bool is_pmix_uri(std::string_view text) {
  if (text.empty() || text.size() > longest_uri) return false;
  const bool is_printable = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
  const std::size_t end_of_name = text.find(';');
  return is_printable && end_of_name != 0 && end_of_name != std::string_view::npos &&
         text.find("://", end_of_name) != std::string_view::npos;
}

std::optional<rendezvous> parse_rendezvous(std::string_view text) {
  rendezvous found;
  found.uri = take_line(text);
  found.version = take_line(text);
  std::string_view number = take_line(text);
  const auto pid = take_number(number);
  constexpr std::size_t longest_version = 64;
  if (!is_pmix_uri(found.uri) || !pid || *pid <= 0 || !number.empty() || found.version.size() > longest_version) {
    return std::nullopt;
  }
  found.pid = process_id{*pid};
  return found;
}

std::optional<rendezvous> find_rendezvous(const std::string& folder, process_id server, user_id user) {
  const unique_fd top{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!top) return std::nullopt;
  if (auto found = read_in(top.get(), server, user)) return found;
  const std::string number = std::to_string(server.value());
  const auto fits = [&](std::string_view name) { return has_number(name, number); };
  for (const std::string& name : names_in(top.get(), fits)) {
    const unique_fd below{::openat(top.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!below || !belongs_to(below.get(), user, S_IFDIR)) continue;
    if (auto found = read_in(below.get(), server, user)) return found;
  }
  return std::nullopt;
}

}  // namespace mpiacq::pmix
