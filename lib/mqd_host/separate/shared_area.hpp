// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/memory.hpp"

namespace mpiacq::mqd_host {

/// Memory that the tool and the separate process share. The report is written there, so that it survives a crash of the
/// library. Pages of the target are passed there, so that they need no socket.
///
/// The library's process can write anything here at any time. The tool copies what it needs once, and then checks the
/// copy.
struct shared_area {
  static constexpr std::size_t window_bytes = 16 * read_page_size;
  static constexpr std::size_t report_bytes = std::size_t{1} << 18U;

  std::atomic<std::uint64_t> calls;        ///< changes whenever the library's code is entered or left
  std::atomic<std::uint8_t> entry;         ///< the entry_point that runs
  std::atomic<std::uint8_t> confined;      ///< whether the sandbox is closed; foreign code may run from then on
  std::atomic<std::int32_t> refused_call;  ///< the system call that the sandbox ended the process for; -1: none
  std::atomic<std::uint32_t> said;         ///< the number of bytes of whole records in `report`
  alignas(read_page_size) std::array<std::byte, window_bytes> window;
  alignas(read_page_size) std::array<std::byte, report_bytes> report;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::int32_t>::is_always_lock_free);

/// The area, mapped.
class shared_memory {
 public:
  /// New memory, all zero. Its size is sealed: if the other process could shrink it, an access here would be a SIGBUS.
  [[nodiscard]] static result<shared_memory> create();
  /// Maps the memory behind a descriptor, and closes the descriptor.
  [[nodiscard]] static result<shared_memory> adopt(base::unique_fd file);
  shared_memory(shared_memory&& other) noexcept;
  shared_memory& operator=(shared_memory&&) = delete;
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  ~shared_memory();

  [[nodiscard]] shared_area& operator*() const { return *area_; }
  [[nodiscard]] shared_area* operator->() const { return area_; }
  /// The descriptor of the memory from `create`, for the other process.
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  shared_memory(shared_area* area, base::unique_fd file) : area_(area), file_(std::move(file)) {}
  [[nodiscard]] static result<shared_memory> map(base::unique_fd file);

  shared_area* area_;
  base::unique_fd file_;
};

}  // namespace mpiacq::mqd_host
