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

/// Memory that the tool and the separate process both see. What the library says is put there, so that it is still
/// there when the library has taken its process along; and pages of the target, so that they need no socket.
///
/// The library's process can write anything here at any time. The tool copies what it wants to know, once, and then
/// judges the copy.
struct shared_area {
  static constexpr std::size_t window_bytes = 16 * read_page_size;
  static constexpr std::size_t report_bytes = std::size_t{1} << 18U;

  std::atomic<std::uint64_t> calls;        ///< changes whenever the library's code is entered or left
  std::atomic<std::uint8_t> entry;         ///< an entry_point: what it was entered by
  std::atomic<std::uint8_t> confined;      ///< the sandbox is closed: foreign code may run from now on
  std::atomic<std::int32_t> refused_call;  ///< the system call that the sandbox ended the process for; -1: none
  std::atomic<std::uint32_t> said;         ///< so many bytes of `report` are whole records
  alignas(read_page_size) std::array<std::byte, window_bytes> window;
  alignas(read_page_size) std::array<std::byte, report_bytes> report;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::int32_t>::is_always_lock_free);

/// The area, mapped.
class shared_memory {
 public:
  /// A new one, all zero, of a size that nobody can change any more: a page that is taken away would be a SIGBUS here.
  [[nodiscard]] static result<shared_memory> create();
  /// The one behind a descriptor, which is closed.
  [[nodiscard]] static result<shared_memory> adopt(base::unique_fd file);
  shared_memory(shared_memory&& other) noexcept;
  shared_memory& operator=(shared_memory&&) = delete;
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  ~shared_memory();

  [[nodiscard]] shared_area& operator*() const { return *area_; }
  [[nodiscard]] shared_area* operator->() const { return area_; }
  /// Of `create`: what the other process is given.
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  shared_memory(shared_area* area, base::unique_fd file) : area_(area), file_(std::move(file)) {}
  [[nodiscard]] static result<shared_memory> map(base::unique_fd file);

  shared_area* area_;
  base::unique_fd file_;
};

}  // namespace mpiacq::mqd_host
