// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "columns/large_memory.hpp"

namespace mpiacq {

/// An array of plain values that only grows at its end. Each element is written once; std::vector would write it twice.
template <class T>
class column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  column() = default;
  column(column&& other) noexcept { *this = std::move(other); }
  column& operator=(column&& other) noexcept {
    values_ = std::move(other.values_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T* data() { return values_.get(); }
  [[nodiscard]] const T* data() const { return values_.get(); }
  [[nodiscard]] T& operator[](std::size_t i) { return values_.get()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return values_.get()[i]; }
  [[nodiscard]] std::span<const T> span() const { return {values_.get(), size_}; }
  [[nodiscard]] std::span<T> span() { return {values_.get(), size_}; }

  /// Reserves memory for `count` values. If there is not enough memory, this is no error: the column then grows as
  /// usual.
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    auto* fresh = static_cast<T*>(allocate_large(count * sizeof(T)));
    if (fresh == nullptr) return;
    if (size_ > 0) std::memcpy(fresh, values_.get(), size_ * sizeof(T));
    values_.reset(fresh);
    capacity_ = count;
  }

  /// Adds `count` values at the end, which the caller must write.
  T* extend(std::size_t count) {
    if (count > capacity_ - size_) set_capacity(std::max(size_ + count, capacity_ + capacity_ / 2));
    T* fresh = values_.get() + size_;
    size_ += count;
    return fresh;
  }
  void push_back(T value) { *extend(1) = value; }
  void shrink(std::size_t size) { size_ = size; }

  /// Empties the column and returns its memory to the system.
  void drop() {
    if (values_) give_pages_back(values_.get(), capacity_ * sizeof(T));
    *this = {};
  }

  /// Moves the memory into an empty column of another type.
  template <class U>
  [[nodiscard]] column<U> reused_for() && {
    column<U> fresh;
    fresh.capacity_ = std::exchange(capacity_, 0) * sizeof(T) / sizeof(U);
    fresh.values_.reset(static_cast<U*>(static_cast<void*>(values_.release())));
    size_ = 0;
    return fresh;
  }

  /// Returns a large unused rest of the memory to the system.
  void trim() {
    if (size_ > 0 && capacity_ - size_ > size_ / 8) set_capacity(size_);
  }

 private:
  template <class U>
  friend class column;

  void set_capacity(std::size_t capacity) {
    void* moved = std::realloc(values_.get(), capacity * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc();
    (void)values_.release();
    values_.reset(static_cast<T*>(moved));
    capacity_ = capacity;
  }

  struct release {
    void operator()(T* values) const { std::free(values); }
  };
  std::unique_ptr<T, release> values_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace mpiacq
