// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "helper/library_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "mpiacq/base/remedies.hpp"

namespace mpiacq::base {

namespace {

constexpr int most_links = 40;  // the kernel's own limit

error not_openable(const std::string& path, int errno_value, const library_words& words) {
  const error_code code = errno_value == ENOENT || errno_value == ENOTDIR ? error_code::not_found
                          : errno_value == EACCES || errno_value == EPERM ? error_code::permission
                                                                          : error_code::system;
  return error{code, fmt::format("{} {} cannot be opened", words.what, path)}.with_errno(errno_value).on(path);
}

/// Why another user could have written the file or folder; empty if none could.
std::optional<std::string> others_hand(const struct stat& what, std::uint32_t user) {
  if (what.st_uid != 0 && what.st_uid != user) return fmt::format("belongs to user {}", what.st_uid);
  if (S_ISLNK(what.st_mode)) return std::nullopt;  // a link's mode has no meaning
  if ((what.st_mode & S_IWOTH) != 0)
    return fmt::format("can be written by all users (mode {:o})", what.st_mode & 07777U);
  if ((what.st_mode & S_IWGRP) != 0) {
    return fmt::format("can be written by group {} (mode {:o})", what.st_gid, what.st_mode & 07777U);
  }
  return std::nullopt;
}

/// Resolves a path as the kernel does, one component after the other, and checks each folder and link through its
/// descriptor. A folder that only trusted users can write stays as it was when it was checked.
class way_to_file {
 public:
  way_to_file(const std::string& path, std::uint32_t user, const library_words& words, const std::string& root = {})
      : path_(path), user_(user), words_(words), root_(root.empty() ? "/" : root) {}

  [[nodiscard]] result<unique_fd> go() {
    TRY(begin());
    while (!names_.empty()) {
      const std::string name = std::move(names_.front());
      names_.pop_front();
      if (name == ".") continue;
      if (name == "..") {
        if (folders_.size() > 1) folders_.pop_back();
        continue;
      }
      auto file = TRY(step(name));
      if (file) return std::move(*file);
    }
    return fail(error{error_code::bad_format, fmt::format("{} {} is a folder", words_.what, path_)}.on(path_));
  }
  /// The first part of the path that another user could have written; empty if there is none.
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  struct folder {
    unique_fd descriptor;
    std::string path;
  };

  [[nodiscard]] result<void> begin() {
    std::string whole = path_;
    if (!whole.starts_with('/')) {
      std::array<char, 4096> here{};
      if (::getcwd(here.data(), here.size()) == nullptr) return fail(not_openable(path_, errno, words_));
      whole = fmt::format("{}/{}", here.data(), path_);
    }
    return put_in_front(whole);
  }

  /// Puts the components of `text` before the remaining ones. An absolute path starts again at the root.
  [[nodiscard]] result<void> put_in_front(const std::string& text) {
    if (text.starts_with('/')) {
      folders_.clear();
      unique_fd root{::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
      struct stat facts {};
      if (!root || ::fstat(root.get(), &facts) != 0) return fail(not_openable(path_, errno, words_));
      judge(facts, "/");
      folders_.push_back({std::move(root), ""});
    }
    std::vector<std::string> names;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('/', at), text.size());
      if (end > at) names.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    names_.insert(names_.begin(), names.begin(), names.end());
    return {};
  }

  void judge(const struct stat& facts, const std::string& where) {
    if (!complaint_.empty()) return;
    if (const auto why = others_hand(facts, user_)) complaint_ = fmt::format("{} {}", where, *why);
  }

  /// Follows one component. Returns the file if it was the last one, else nothing.
  [[nodiscard]] result<std::optional<unique_fd>> step(const std::string& name) {
    const int parent = folders_.back().descriptor.get();
    const std::string where = fmt::format("{}/{}", folders_.back().path, name);
    unique_fd entry{::openat(parent, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    struct stat facts {};
    if (!entry || ::fstat(entry.get(), &facts) != 0) return fail(not_openable(path_, errno, words_));
    judge(facts, where);
    if (S_ISLNK(facts.st_mode)) return follow(entry.get());
    if (S_ISDIR(facts.st_mode)) {
      folders_.push_back({std::move(entry), where});
      return std::nullopt;
    }
    if (!names_.empty()) return fail(not_openable(path_, ENOTDIR, words_));
    if (!S_ISREG(facts.st_mode)) {
      return fail(error{error_code::bad_format, fmt::format("{} {} is no file", words_.what, path_)}.on(path_));
    }
    // The name may lead to another file by now, so the check applies to the opened file.
    unique_fd file{::openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (!file || ::fstat(file.get(), &facts) != 0) return fail(not_openable(path_, errno, words_));
    judge(facts, where);
    return std::optional{std::move(file)};
  }

  [[nodiscard]] result<std::optional<unique_fd>> follow(int link) {
    if (++links_ > most_links) return fail(not_openable(path_, ELOOP, words_));
    std::array<char, 4096> target{};
    const ssize_t length = ::readlinkat(link, "", target.data(), target.size());
    if (length <= 0) return fail(not_openable(path_, length < 0 ? errno : ENOENT, words_));
    TRY(put_in_front({target.data(), static_cast<std::size_t>(length)}));
    return std::nullopt;
  }

  const std::string& path_;
  std::uint32_t user_;
  const library_words& words_;
  std::string root_;
  std::vector<folder> folders_;  ///< from the root to the current folder
  std::deque<std::string> names_;
  int links_ = 0;
  std::string complaint_;
};

error not_trusted(const std::string& path, const std::string& complaint, const library_words& words) {
  std::string sentence =
      fmt::format("{} {} is not loaded, because another user could have written it: {}", words.what, path, complaint);
  if (!words.remedy.empty()) sentence += fmt::format("; to load it all the same, {}", words.remedy);
  return error{error_code::permission, std::move(sentence)}.on(path);
}

/// The parts of an ELF header that state machine and width.
struct elf_kind {
  std::uint8_t width = 0;
  std::uint8_t order = 0;
  std::uint16_t machine = 0;
  bool is_library = false;
};

std::optional<elf_kind> kind_of(int file) {
  std::array<unsigned char, 20> head{};
  if (::pread(file, head.data(), head.size(), 0) != static_cast<ssize_t>(head.size()) ||
      std::memcmp(head.data(), ELFMAG, SELFMAG) != 0) {
    return std::nullopt;
  }
  const auto half = [&](std::size_t at) {
    const bool big = head[EI_DATA] == ELFDATA2MSB;
    return static_cast<std::uint16_t>(head[at + (big ? 1U : 0U)] | head[at + (big ? 0U : 1U)] << 8U);
  };
  return elf_kind{head[EI_CLASS], head[EI_DATA], half(18), half(16) == ET_DYN};
}

result<void> check_kind(const library_file& library, const library_words& words) {
  const auto kind = kind_of(library.file.get());
  if (!kind || !kind->is_library) {
    return fail(error{error_code::bad_format, fmt::format("{} is no shared library", library.path)}.on(library.path));
  }
  const unique_fd self{::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};
  const auto ours = self ? kind_of(self.get()) : std::nullopt;
  if (!ours || (kind->width == ours->width && kind->order == ours->order && kind->machine == ours->machine)) return {};
  return fail(error{error_code::bad_format,
                    fmt::format("{} {} is for another machine or width than this program (ELF class {}, "
                                "machine {}): it must be of the tool's own",
                                words.what, library.path, kind->width, kind->machine)}
                  .on(library.path));
}

}  // namespace

result<library_file> open_library(const std::string& path, std::uint32_t user, bool in_spite,
                                  const library_words& words, const std::string& root) {
  way_to_file way(path, user, words, root);
  auto file = TRY(way.go());
  if (!way.complaint().empty() && !in_spite) return fail(not_trusted(path, way.complaint(), words));
  library_file library{std::move(file), path, {}};
  if (!way.complaint().empty()) {
    library.warning =
        fmt::format("{} was loaded although another user could have written it: {}", words.what, way.complaint());
  }
  TRY(check_kind(library, words));
  return library;
}

result<void> check_trust(const std::string& path, std::uint32_t user, const library_words& words) {
  way_to_file way(path, user, words);
  TRY(way.go());
  if (!way.complaint().empty()) return fail(not_trusted(path, way.complaint(), words));
  return {};
}

}  // namespace mpiacq::base
