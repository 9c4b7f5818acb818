// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpiacq/job/process_table.hpp"
#include "table/procdesc.hpp"

namespace mpiacq {

namespace {

constexpr std::uint64_t first_entries = 64;
constexpr std::size_t longest_string = 4096;

enum class verdict : std::uint8_t { fits, neither, against };
enum class string_look : std::uint8_t { good, nothing, bad };

/// One entry, decoded by the layout.
struct sample {
  std::uint64_t entry = 0;
  target_address host;
  target_address executable;
  std::int64_t pid = 0;
  string_look host_look = string_look::nothing;
  string_look executable_look = string_look::nothing;
};

bool is_printable(std::string_view text) {
  // Bytes from 0x80 are UTF-8 or another encoding's letters: paths may have them.
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

string_look look_at(const visited_string& s) {
  if (s.what != string_outcome::ok || !is_printable(s.text)) return string_look::bad;
  return s.text.empty() ? string_look::nothing : string_look::good;
}

verdict judge(const sample& s) {
  const int bad = (s.host_look == string_look::bad ? 1 : 0) + (s.executable_look == string_look::bad ? 1 : 0);
  const int good = (s.host_look == string_look::good ? 1 : 0) + (s.executable_look == string_look::good ? 1 : 0);
  if (bad == 2) return verdict::against;
  if (s.pid == 0) return bad == 1 ? verdict::against : verdict::neither;  // an entry that was never filled
  if (!is_plausible_pid(s.pid)) return verdict::against;
  return bad == 0 || good == 1 ? verdict::fits : verdict::neither;
}

std::string complaint(const sample& s) {
  if (!is_plausible_pid(s.pid)) return fmt::format("its pid reads as {}", s.pid);
  const auto look = [](string_look l) { return l == string_look::bad ? "no printable string" : "nothing"; };
  return fmt::format("host_name points to {} at {:#x}, executable_name to {} at {:#x}", look(s.host_look),
                     s.host.value(), look(s.executable_look), s.executable.value());
}

class layout_check {
 public:
  layout_check(memory_reader& memory, const descriptor& d, target_address base) : memory_(memory), d_(d), base_(base) {}

  result<void> check(std::uint64_t entries) {
    if (auto read = read_samples(entries); !read) return read;
    if (auto read = look_at_strings(); !read) return read;
    return decide();
  }

 private:
  result<void> read_samples(std::uint64_t entries) {
    entries = std::min(entries, entries_that_fit(d_, base_));
    const std::uint64_t first = std::min(entries, first_entries);
    if (first == 0) return no_first_entry(base_);
    std::vector<std::byte> bytes((first - 1) * d_.stride + d_.needed);
    std::vector<std::byte> last(d_.needed);
    std::vector<memory_range> ranges{{base_, bytes}};
    if (entries > first) ranges.push_back({base_ + (entries - 1) * d_.stride, last});
    if (auto read = memory_.read_ranges(ranges); !read) return read;
    if (ranges[0].got < d_.needed) return no_first_entry(base_ + ranges[0].got);
    for (std::uint64_t i = 0; i < first && i * d_.stride + d_.needed <= ranges[0].got; ++i) {
      add(i, std::span{bytes}.subspan(i * d_.stride));
    }
    if (ranges.size() > 1 && ranges[1].got == last.size()) add(entries - 1, last);
    return {};
  }

  [[nodiscard]] result<void> no_first_entry(target_address stopped) const {
    return fail(error{error_code::unreadable_memory,
                      fmt::format("the process table at {:#x} cannot be read: memory ends at {:#x}, within its first "
                                  "entry",
                                  base_.value(), stopped.value())}
                    .at(stopped));
  }

  void add(std::uint64_t entry, std::span<const std::byte> bytes) {
    sample s;
    s.entry = entry;
    s.host = target_address{decode_unsigned(bytes.subspan(d_.host_name, d_.pointer_size), d_.order)};
    s.executable = target_address{decode_unsigned(bytes.subspan(d_.executable_name, d_.pointer_size), d_.order)};
    const auto pid = bytes.subspan(d_.pid, d_.pid_size);
    s.pid = d_.pid_signed ? decode_signed(pid, d_.order) : static_cast<std::int64_t>(decode_unsigned(pid, d_.order));
    samples_.push_back(s);
  }

  result<void> look_at_strings() {
    std::vector<target_address> addresses;
    std::vector<string_look*> looks;
    for (sample& s : samples_) {
      for (const auto& [address, look] :
           {std::pair{s.host, &s.host_look}, std::pair{s.executable, &s.executable_look}}) {
        if (address.is_null()) continue;
        addresses.push_back(address);
        looks.push_back(look);
      }
    }
    const string_limits limits{longest_string, longest_string * (addresses.size() + 1)};
    return visit_c_strings(memory_, addresses, limits, [&](const visited_string& s) { *looks[s.index] = look_at(s); });
  }

  [[nodiscard]] result<void> decide() const {
    const sample* speaker = nullptr;
    std::size_t against = 0, fitting = 0;
    for (const sample& s : samples_) {
      const verdict v = judge(s);
      if (v == verdict::fits) ++fitting;
      if (v != verdict::against) continue;
      if (speaker == nullptr) speaker = &s;
      ++against;
    }
    if (fitting > 0 && 2 * against < samples_.size()) return {};
    const sample& s = speaker != nullptr ? *speaker : samples_.front();
    const target_address where = base_ + s.entry * d_.stride;
    return fail(error{error_code::bad_format,
                      fmt::format("entry {} of the process table, at {:#x}, contradicts the descriptor's layout ({}): "
                                  "{}; {} of the {} checked entries contradict it",
                                  s.entry, where.value(), describe(d_), complaint(s), std::max<std::size_t>(against, 1),
                                  samples_.size())}
                    .at(where));
  }

  memory_reader& memory_;
  descriptor d_;
  target_address base_;
  std::vector<sample> samples_;
};

}  // namespace

result<void> check_layout_against_data(memory_reader& memory, const target_abi& abi, const structure_layout& layout,
                                       target_address base, std::uint64_t entries) {
  const auto d = TRY(resolve_descriptor(abi, layout));
  if (entries == 0) return {};
  return layout_check(memory, d, base).check(entries);
}

}  // namespace mpiacq
