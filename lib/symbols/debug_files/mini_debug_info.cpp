// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "debug_files/mini_debug_info.hpp"

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <lzma.h>
#include <sys/mman.h>
#include <unistd.h>

#include "errors/try.hpp"

namespace mpiacq::debug_info {

namespace {

/// The memory limit for liblzma: `xz -9` needs 65 MiB.
constexpr std::uint64_t most_decoder_memory = std::uint64_t{96} << 20;

tl::unexpected<error> unusable(const elf::input_file& of, error_code code, std::string_view why) {
  return fail(
      error{code, fmt::format("the symbol table that is packed in {} (.gnu_debugdata) is not used: {}", of.name(), why)}
          .on(of.name()));
}

class xz_decoder {
 public:
  xz_decoder() : ready_(lzma_stream_decoder(&stream_, most_decoder_memory, 0) == LZMA_OK) {}
  ~xz_decoder() { lzma_end(&stream_); }
  xz_decoder(const xz_decoder&) = delete;
  xz_decoder& operator=(const xz_decoder&) = delete;

  [[nodiscard]] bool ready() const { return ready_; }
  void give(std::span<const std::byte> packed) {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
    stream_.avail_in = packed.size();
  }
  /// Unpacks the next bytes into `room`, and sets `size` to their number.
  lzma_ret unpack(std::span<std::byte> room, std::size_t& size) {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(room.data());
    stream_.avail_out = room.size();
    const lzma_ret answer = lzma_code(&stream_, LZMA_FINISH);
    size = room.size() - stream_.avail_out;
    return answer;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ready_;
};

/// Closes a descriptor, unless its ownership is passed on.
class memory_file {
 public:
  memory_file() : descriptor_(::memfd_create("gnu_debugdata", MFD_CLOEXEC)) {}
  ~memory_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;

  [[nodiscard]] bool write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
  }
  [[nodiscard]] int give_away() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

result<void> unpack(const elf::input_file& of, std::span<const std::byte> packed, const memory_file& into) {
  xz_decoder decoder;
  if (!decoder.ready()) return unusable(of, error_code::system, "there is no memory to unpack it");
  decoder.give(packed);
  std::array<std::byte, 65536> room{};
  std::uint64_t total = 0;
  for (;;) {
    std::size_t size = 0;
    const lzma_ret answer = decoder.unpack(room, size);
    total += size;
    if (total > most_unpacked) {
      return unusable(of, error_code::limit, fmt::format("it unpacks to more than {} bytes", most_unpacked));
    }
    if (!into.write(std::span{room}.first(size))) {
      return unusable(of, error_code::system, "there is no memory for it");
    }
    if (answer == LZMA_STREAM_END) return {};
    if (answer == LZMA_MEMLIMIT_ERROR) {
      return unusable(of, error_code::limit,
                      fmt::format("unpacking it needs more than {} bytes of memory", most_decoder_memory));
    }
    if (answer != LZMA_OK) return unusable(of, error_code::bad_format, "it is not a complete xz file");
  }
}

}  // namespace

result<std::shared_ptr<elf::image>> open_mini_debug_info(elf::image& file) {
  auto section = TRY(file.find_section(".gnu_debugdata"));
  if (!section || section->size == 0) return nullptr;
  if (section->size > most_packed) {
    return unusable(file.file(), error_code::limit, fmt::format("it has {} bytes", section->size));
  }
  const auto packed = TRY(file.contents(*section));
  memory_file unpacked;
  TRY(unpack(file.file(), packed, unpacked));
  auto bytes = TRY(elf::input_file::adopt(unpacked.give_away(), file.file().name() + " (.gnu_debugdata)"));
  auto opened = TRY(elf::image::open(std::move(bytes)));
  if (opened.abi() != file.abi()) return unusable(file.file(), error_code::bad_format, "it is for another machine");
  return std::make_shared<elf::image>(std::move(opened));
}

}  // namespace mpiacq::debug_info
