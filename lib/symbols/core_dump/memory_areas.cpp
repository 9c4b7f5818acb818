// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "core_dump/memory_areas.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "mpiacq/base/memory.hpp"

namespace mpiacq::elf {

namespace {

constexpr std::uint64_t bytes_in_kb = 1024;

/// Takes a number and the character behind it from the front of a line.
std::optional<std::uint64_t> take_field(std::string_view& line, int base, char behind) {
  std::uint64_t value = 0;
  const char* end = line.data() + line.size();
  const auto [at, problem] = std::from_chars(line.data(), end, value, base);
  if (problem != std::errc{} || at == end || *at != behind) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(at - line.data()) + 1);
  return value;
}

void skip_blanks(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
}

struct area_line {
  memory_area area;
  std::string_view path;
};

/// proc_pid_maps(5): "7f12ab400000-7f12ab5d0000 r-xp 00026000 fe:01 1234    /usr/lib/libc.so.6"
std::optional<area_line> decode_area(std::string_view line) {
  area_line decoded;
  memory_area& area = decoded.area;
  const auto begin = take_field(line, 16, '-');
  const auto end = begin ? take_field(line, 16, ' ') : std::nullopt;
  if (!end || *end <= *begin || line.size() < 5 || line[4] != ' ') return std::nullopt;
  if (*begin % read_page_size != 0 || *end % read_page_size != 0) return std::nullopt;
  area.begin = *begin;
  area.end = *end;
  area.is_readable = line[0] == 'r';
  area.is_writable = line[1] == 'w';
  area.is_executable = line[2] == 'x';
  area.is_shared = line[3] == 's';
  line.remove_prefix(5);
  const auto offset = take_field(line, 16, ' ');
  const auto major = offset ? take_field(line, 16, ':') : std::nullopt;
  const auto minor = major ? take_field(line, 16, ' ') : std::nullopt;
  if (!minor) return std::nullopt;
  area.offset = *offset;
  std::uint64_t inode = 0;
  const auto [at, problem] = std::from_chars(line.data(), line.data() + line.size(), inode);
  if (problem != std::errc{}) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(at - line.data()));
  skip_blanks(line);
  decoded.path = line;
  // The inode of a System V segment is its number, which may be 0.
  area.has_file = inode != 0 || line.starts_with('/');
  area.is_deleted = area.has_file && line.ends_with(" (deleted)");
  area.is_vdso = !area.has_file && line == "[vdso]";
  area.is_kernels = !area.has_file && (line.starts_with("[vvar") || line == "[vsyscall]");
  return decoded;
}

/// The kernel escapes the newline and nothing else.
std::string unescaped(std::string_view path) {
  std::string plain{path};
  for (std::size_t at = 0; (at = plain.find("\\012", at)) != std::string::npos; ++at) plain.replace(at, 4, "\n");
  return plain;
}

/// Without the kernel's flags, the name of a mapping says whether it is a device.
bool is_device_name(std::string_view path) {
  return path.starts_with("/dev/") && !path.starts_with("/dev/shm/") && !path.starts_with("/dev/zero");
}

tl::unexpected<error> cannot_read_areas(process_id process, int why) {
  return fail(error{why == ESRCH                    ? error_code::process_gone
                    : why == EACCES || why == EPERM ? error_code::permission
                                                    : error_code::system,
                    fmt::format("reading the mappings of process {}", process.value())}
                  .with_errno(why));
}

}  // namespace

bool has_passed(const time_limit& until) {
  if (until.by != no_deadline && clock::now() >= until.by) return true;
  pollfd stop{until.stop, POLLIN, 0};
  return until.stop >= 0 && ::poll(&stop, 1, 0) > 0;
}

bool area_parser::take(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t end = piece.find('\n');
    const std::string_view part = piece.substr(0, end);
    begun_.append(part.substr(0, longest_line - std::min(begun_.size(), longest_line)));
    if (end == std::string_view::npos) return true;
    piece.remove_prefix(end + 1);
    const bool goes_on = take_line(begun_);
    begun_.clear();
    if (!goes_on) return false;
  }
  return true;
}

bool area_parser::take_line(std::string_view line) {
  // A line of details begins with the name of a field: a capital letter and at least one more, and a colon.
  if (!line.empty() && line.front() >= 'A' && line.front() <= 'Z') {
    take_detail(line);
    return true;
  }
  const auto decoded = decode_area(line);
  const bool is_next = decoded && (found_.all.empty() || found_.all.back().end <= decoded->area.begin);
  is_first_of_area_ = is_next;
  if (!is_next) {
    if (!line.empty()) ++found_.dropped;
    return true;
  }
  if (found_.all.size() == most_areas) return false;
  found_.all.push_back(decoded->area);
  if (decoded->area.has_file) name_last(decoded->path);
  return true;
}

void area_parser::name_last(std::string_view path) {
  if (found_.names.empty() || found_.names.back() != unescaped(path)) {
    if (bytes_of_names_ + path.size() > most_of_names) {
      ++found_.unnamed;
      return;
    }
    bytes_of_names_ += path.size() + 1;
    found_.names.push_back(unescaped(path));
  }
  found_.all.back().name = static_cast<std::uint32_t>(found_.names.size() - 1);
}

void area_parser::take_detail(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_first_of_area_) return;
  memory_area& area = found_.all.back();
  const std::string_view field = line.substr(0, colon);
  line.remove_prefix(colon + 1);
  if (field == "Anonymous" || field == "Swap") {
    skip_blanks(line);
    const auto number = take_field(line, 10, ' ').value_or(0);
    area.written = std::min(area.written + std::min(number, area.size() / bytes_in_kb) * bytes_in_kb, area.size());
    found_.has_details = true;
  } else if (field == "VmFlags") {
    for (skip_blanks(line); !line.empty(); skip_blanks(line)) {
      const std::string_view flag = line.substr(0, line.find(' '));
      area.is_excluded |= flag == "dd";
      area.is_device |= flag == "io" || flag == "pf";
      area.is_huge |= flag == "ht";
      line.remove_prefix(flag.size());
    }
  }
}

memory_areas area_parser::finish() {
  if (!begun_.empty()) (void)take_line(begun_);
  begun_.clear();
  if (!found_.has_details) {
    for (memory_area& area : found_.all) {
      area.is_device = area.name != memory_area::no_name && is_device_name(found_.names[area.name]);
    }
  }
  return std::move(found_);
}

result<memory_areas> read_memory_areas(const process_folder& process, const time_limit& until) {
  auto file = process.open_file("smaps");
  if (!file && file.error().code == error_code::not_found) file = process.open_file("maps");
  if (!file) return fail(std::move(file).error().while_doing("reading the mappings"));
  area_parser parser;
  std::array<char, 65536> piece{};
  while (true) {
    if (has_passed(until)) {
      return fail(error_code::timed_out,
                  fmt::format("the list of the mappings of process {} is not complete in time", process.pid().value()));
    }
    const ssize_t got = ::read(file->get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read_areas(process.pid(), errno);
    if (got == 0) break;
    if (!parser.take({piece.data(), static_cast<std::size_t>(got)})) {
      return fail(error_code::limit,
                  fmt::format("process {} has more than {} mappings", process.pid().value(), area_parser::most_areas));
    }
  }
  auto areas = parser.finish();
  if (areas.all.empty()) return cannot_read_areas(process.pid(), ESRCH);  // a zombie has no mappings
  return areas;
}

}  // namespace mpiacq::elf
