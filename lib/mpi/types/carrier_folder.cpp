// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "types/carrier_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpiacq/queues/type_carriers.hpp"

namespace mpiacq::carriers {

std::string carrier_file_name(const std::vector<std::byte>& build_id) {
  module named;
  named.build_id = build_id;
  return build_id_text(named) + ".so";
}

result<void> check_private(const std::string& path) {
  struct stat s {};
  if (::lstat(path.c_str(), &s) != 0) {
    const int why = errno;
    const auto code = why == ENOENT || why == ENOTDIR ? error_code::not_found : error_code::system;
    return fail(error{code, fmt::format("checking {}", path)}.with_errno(why).on(path));
  }
  const bool ours = s.st_uid == ::geteuid() || s.st_uid == 0;
  if (ours && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0 && !S_ISLNK(s.st_mode)) return {};
  const std::string why = S_ISLNK(s.st_mode) ? "is a link"
                          : ours             ? "can be written by others"
                                             : fmt::format("belongs to the user {}", s.st_uid);
  return fail(error{error_code::permission, fmt::format("{} {}, so the types in it are not used", path, why)}.on(path));
}

result<void> make_private_folder(const std::string& folder) {
  for (std::size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const std::string part = folder.substr(0, end);
    if (::mkdir(part.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      return fail(error{errno == EACCES || errno == EROFS ? error_code::permission : error_code::system,
                        fmt::format("making the folder {}", part)}
                      .with_errno(errno)
                      .on(part));
    }
    if (end == std::string::npos) return check_private(folder);
  }
}

result<work_folder> work_folder::make(const std::string& within) {
  std::string path = within + "/.mpiacq-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return fail(error{errno == EACCES || errno == EROFS ? error_code::permission : error_code::system,
                      fmt::format("making a temporary folder in {}", within)}
                    .with_errno(errno)
                    .on(within));
  }
  return work_folder{std::move(path)};
}

work_folder::~work_folder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace mpiacq::carriers

namespace mpiacq {

std::string default_carrier_folder() {
  // The XDG Base Directory Specification says that a relative path is invalid.
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return fmt::format("{}/mpiacq/types", cache);
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? fmt::format("{}/.cache/mpiacq/types", home) : std::string{};
}

result<std::optional<std::string>> find_type_carrier(const std::vector<std::byte>& build_id, std::string folder) {
  if (folder.empty()) folder = default_carrier_folder();
  if (folder.empty() || build_id.empty()) return std::nullopt;
  const std::string file = folder + "/" + carriers::carrier_file_name(build_id);
  for (const std::string& path : {folder, file}) {
    auto checked = carriers::check_private(path);
    if (checked) continue;
    if (checked.error().code == error_code::not_found) return std::nullopt;
    return fail(std::move(checked).error());
  }
  return file;
}

}  // namespace mpiacq
