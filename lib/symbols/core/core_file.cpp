// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/process/core_file.hpp"

#include <algorithm>
#include <array>

#include <elf.h>
#include <fmt/format.h>

#include "core/core_state.hpp"
#include "errors/try.hpp"

namespace mpiacq {

namespace {

constexpr std::size_t max_path = 4096;

/// The formats in which crash handlers pack cores, by the first bytes.
struct packing {
  std::string_view magic;
  std::string_view name;
  std::string_view unpack;
};
constexpr std::array<packing, 4> packings = {{{"\x28\xb5\x2f\xfd", "zstd", "unzstd"},
                                              {"\x04\x22\x4d\x18", "lz4", "unlz4"},
                                              {"\xfd\x37zXZ", "xz", "unxz"},
                                              {"\x1f\x8b", "gzip", "gunzip"}}};

tl::unexpected<error> refused(const std::string& path, const std::string& why) {
  return fail(error{error_code::bad_format, fmt::format("{} {}", path, why)}.on(path));
}

result<elf::image> open_core(const std::string& path) {
  auto file = TRY(elf::input_file::open(path));
  std::array<std::byte, 8> head{};
  const auto got = TRY(file.read_some(0, head));
  const std::string_view begins{reinterpret_cast<const char*>(head.data()), got};
  for (const packing& p : packings) {
    if (begins.starts_with(p.magic)) {
      return refused(path,
                     fmt::format("is packed with {}: unpack it first ({}, or coredumpctl dump)", p.name, p.unpack));
    }
  }
  auto opened = elf::image::open(std::move(file));
  if (!opened) return opened;
  if (opened->header().type != ET_CORE) {
    return refused(path, "is not a core file but a program or library: use 'inspect' for those");
  }
  if (opened->find_segment(PT_NOTE) == nullptr || opened->find_segment(PT_LOAD) == nullptr) {
    return refused(path, "is a core file without notes or without memory: it describes no process");
  }
  return opened;
}

}  // namespace

core_file::core_file(std::unique_ptr<state> s) : state_(std::move(s)) {}
core_file::~core_file() = default;

result<std::unique_ptr<core_file>> core_file::open(const std::string& path, core_file_options options) {
  auto core = TRY(open_core(path));
  auto notes = elf::read_core_notes(core);
  if (!notes) return fail(std::move(notes).error());
  std::vector<error> problems = std::move(notes->problems);
  std::unique_ptr<state> s{new state{std::move(options), std::move(core), std::move(*notes), std::move(problems)}};
  if (s->notes.auxiliary) {
    s->executable = s->places.name_at(s->notes.auxiliary->entry);
    if (s->executable.empty() && !s->notes.auxiliary->path.is_null()) {
      auto started = read_c_string(s->memory, s->notes.auxiliary->path, max_path);
      if (started) s->executable = std::move(*started);
    }
  }
  if (s->executable.empty()) s->executable = s->notes.short_name;
  s->places.set_executable(s->executable);
  return std::unique_ptr<core_file>(new core_file(std::move(s)));
}

const std::string& core_file::path() const {
  return state_->core.file().name();
}

const target_abi& core_file::abi() const {
  return state_->core.abi();
}

process_id core_file::pid() const {
  if (state_->notes.process) return *state_->notes.process;
  return state_->notes.thread.value_or(process_id{});
}

const std::string& core_file::executable() const {
  return state_->executable;
}

int core_file::signal() const {
  return state_->notes.signal;
}

result<void> core_file::read_ranges(std::span<memory_range> ranges) {
  return state_->memory.read_ranges(ranges);
}

std::span<const error> core_file::problems() const {
  return state_->problems;
}

}  // namespace mpiacq
