// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The fixture memory_kinds, which says where it has which memory.
#pragma once

#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "description.hpp"
#include "held_process.hpp"
#include "live_process.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

struct place {
  std::uint64_t address = 0;
  std::size_t size = 0;
};

/// Whether each thread waits in read(0, ...).
inline bool all_wait(process_id pid) {
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid.value()) + "/task";
  for (const auto& entry : std::filesystem::directory_iterator{tasks}) {
    std::istringstream call{file_contents(entry.path() / "syscall")};
    std::string number;
    std::string descriptor;
    call >> number >> descriptor;
    if (number == "running" || number == "-1" || descriptor != "0x0") return false;
  }
  return true;
}

/// A running fixture, and where it says that its memory is. It has no restartable sequences: the kernel writes the
/// number of the processor into their memory whenever a thread goes on, so that two looks at one thread would differ.
struct kinds {
  explicit kinds(const std::string& program)
      : process{{"env", "GLIBC_TUNABLES=glibc.pthread.rseq=0", fixture(program), folder / ""}} {
    for (const std::string& line : process.lines_until_ready()) {
      std::istringstream words{line};
      std::string kind;
      place p;
      words >> kind >> std::hex >> p.address >> std::dec >> p.size;
      places[kind] = p;
    }
    if (!places.empty()) REQUIRE(comes_true([&] { return all_wait(process.pid()); }));
  }
  own_folder folder;
  live_process process;
  std::map<std::string, place> places;
};

inline std::vector<std::byte> read(memory_reader& memory, const place& from) {
  std::vector<std::byte> bytes(from.size);
  memory_range range{target_address{from.address}, bytes};
  if (!memory.read_ranges({&range, 1})) return {};
  bytes.resize(range.got);
  return bytes;
}

inline std::string texts(std::span<const error> problems) {
  std::string text;
  for (const error& e : problems) text += e.message + "\n";
  return text;
}

}  // namespace mpiacq::test
