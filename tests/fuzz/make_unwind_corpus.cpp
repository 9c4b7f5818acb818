// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Makes the seeds of fuzz_unwind anew: build/fuzz/tests/fuzz/make_unwind_corpus tests/fuzz/corpus/unwind
#include <fstream>
#include <string>

#include "unwind_writer.hpp"

using namespace mpiacq;
using test::unwind_writer;

namespace {

void write(const std::string& path, const unwind_writer& tables, unwind_writer::header kind) {
  const auto [bytes, m] = tables.finish(kind);
  std::vector<std::uint8_t> all;
  const auto number = [&all](std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) all.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  };
  const bool has_header = kind != unwind_writer::header::none;
  number(has_header ? 0 : 1, 2);
  number(0x210, 2);
  number(bytes.size(), 2);
  number(has_header ? m.eh_frame_hdr_size : m.eh_frame_size, 2);
  for (const std::byte b : bytes) all.push_back(static_cast<std::uint8_t>(b));
  for (const std::uint64_t word : {0x1ULL, 0x20010ULL, 0x2ULL, 0x20220ULL, 0x3ULL, 0x20110ULL}) number(word, 8);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size()));
}

unwind_writer with_function(const unwind_writer::program& rules, std::string_view augmentation = "zR") {
  unwind_writer w;
  w.cie().function(0x000, 0x100, {0x0e, 16}).function(0x100, 0x100, {0x07, 16});
  w.cie(unwind_writer::usual_start(), augmentation).function(0x200, 0x100, rules);
  return w;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string folder = std::string(arguments[1]) + '/';
  using header = unwind_writer::header;
  const unwind_writer::program plt = {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
  write(folder + "table", with_function({0x0e, 16}), header::with_table);
  write(folder + "no_table", with_function({0x0e, 16}), header::without_table);
  write(folder + "no_header", with_function({0x0e, 16}), header::none);
  write(folder + "expression", with_function(plt), header::with_table);
  write(folder + "saved", with_function({0x41, 0x0e, 16, 0x86, 2, 0x0a, 0x42, 0x0d, 6, 0x43, 0x0b}),
        header::with_table);
  write(folder + "signal", with_function({0x0f, 3, 0x77, 0, 0x06, 0x10, 3, 2, 0x77, 8}, "zRS"), header::with_table);
  return 0;
}
