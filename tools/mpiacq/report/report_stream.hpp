// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpiacq::tool {

/// Writes a report to a descriptor through a buffer of constant size. After the first failed write it writes nothing
/// more. Thread: one at a time.
class report_stream {
 public:
  /// The descriptor stays the caller's. `colour`: the report may contain the sequences of colours.hpp.
  report_stream(int descriptor, bool colour) : descriptor_(descriptor), colour_(colour) {}
  report_stream(const report_stream&) = delete;
  report_stream& operator=(const report_stream&) = delete;

  /// Writes text. Unsafe characters are escaped here, whatever the caller has done before.
  void write(std::string_view text);
  /// Writes bytes that are safe: the parts of a JSON document.
  void put(std::string_view bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= most_kept) flush();
  }
  void put(char byte) { buffer_ += byte; }
  /// Writes the buffer.
  void flush();

  /// The errno of the first write that failed; 0 if none has.
  [[nodiscard]] int failure() const { return failure_; }

 private:
  static constexpr std::size_t most_kept = 65536;
  std::string buffer_;
  int descriptor_;
  bool colour_;
  int failure_ = 0;
};

/// Writes all bytes, in as many calls as necessary. Returns the errno of the call that failed, otherwise 0.
[[nodiscard]] int write_all(int descriptor, std::string_view bytes);

}  // namespace mpiacq::tool
