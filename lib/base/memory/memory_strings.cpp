// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "memory/pages.hpp"
#include "mpiacq/base/page_sets.hpp"

namespace mpiacq {

namespace {

constexpr std::size_t pages_per_call = page_sets::bytes_of_set / read_page_size;

/// Adjacent pages that are requested together. If `got < wanted`, the last one could not be read.
struct page_run {
  std::uint64_t begin = 0;
  std::size_t wanted = 0;
  std::size_t got = 0;
  std::byte* data = nullptr;

  [[nodiscard]] bool holds(std::uint64_t address) const { return address - begin < wanted; }
};

/// The order in which addresses are visited. Position p of the ascending order is the address at `(p + first) % count`,
/// or, if `positions` is not empty, the address at `positions[p]`.
struct address_order {
  std::size_t first = 0;
  std::vector<std::uint32_t> positions;
};

/// For two columns of a table, one behind the other, whose strings are in two areas: the index from which the addresses
/// ascend, before they continue at the beginning. Empty for any other order.
std::optional<std::size_t> ascending_from(std::span<const target_address> addresses) {
  const auto descent = std::is_sorted_until(addresses.begin(), addresses.end());
  if (descent == addresses.end()) return 0;
  if (addresses.back() > addresses.front() || !std::is_sorted(descent, addresses.end())) return std::nullopt;
  return static_cast<std::size_t>(descent - addresses.begin());
}

/// A loop fills most tables, so their string addresses are a few interleaved ascending sequences (the host names, the
/// executables). Splitting and merging two sequences takes linear time; addresses that fit into neither are sorted.
address_order ascending_order(std::span<const target_address> addresses) {
  if (const auto first = ascending_from(addresses)) return {*first, {}};
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return addresses[a] < addresses[b]; };
  std::vector<std::uint32_t> high, low, rest;
  high.reserve(addresses.size());  // an unused reservation costs no memory
  target_address highest, lower;
  for (std::uint32_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i] >= highest) {
      highest = addresses[i];
      high.push_back(i);
    } else if (addresses[i] >= lower) {
      lower = addresses[i];
      low.push_back(i);
    } else {
      rest.push_back(i);
    }
  }
  std::sort(rest.begin(), rest.end(), before);
  std::vector<std::uint32_t> two(high.size() + low.size());
  std::merge(high.begin(), high.end(), low.begin(), low.end(), two.begin(), before);
  if (rest.empty()) return {0, std::move(two)};
  std::vector<std::uint32_t> all(addresses.size());
  std::merge(two.begin(), two.end(), rest.begin(), rest.end(), all.begin(), before);
  return {0, std::move(all)};
}

/// One pass over the strings in ascending order of address, several hundred pages at a time.
class string_walk {
 public:
  string_walk(memory_reader& memory, std::span<const target_address> addresses, const string_limits& limits,
              const std::function<void(const visited_string&)>& visit, const page_sets& sets)
      : memory_(memory),
        addresses_(addresses),
        limits_(limits),
        visit_(visit),
        sets_(sets),
        set_(sets.memory.data()),
        order_(ascending_order(addresses)) {
    if (sets.take) placed_.reserve(page_sets::most_placed);
  }

  result<void> walk() {
    std::size_t next = 0;
    while (next < addresses_.size() && !exhausted_) {
      const std::size_t end = plan(next);
      if (auto read = read_runs(); !read) return read;
      for (std::size_t i = resolve_simple(next, end); i < end; i = resolve_simple(i + 1, end)) resolve(i);
      // Strings that continue on pages where no other string begins: one call reads all those pages, and so on.
      while (!unresolved_.empty()) {
        if (auto read = read_missing(); !read) return read;
        std::vector<std::size_t> again;
        again.swap(unresolved_);
        for (const std::size_t i : again) resolve(i);
      }
      next = end;
      forget_below(next);
      take_next_set();
    }
    for (; next < addresses_.size(); ++next) emit(next, string_outcome::beyond_total);
    return {};
  }

 private:
  [[nodiscard]] std::size_t index(std::size_t position) const {
    if (!order_.positions.empty()) return order_.positions[position];
    const std::size_t to_end = addresses_.size() - order_.first;
    return position < to_end ? position + order_.first : position - to_end;
  }
  [[nodiscard]] std::uint64_t address(std::size_t position) const { return addresses_[index(position)].value(); }

  void hand_over() {
    sets_.take(placed_);
    placed_.clear();
    placed_.reserve(page_sets::most_placed);
  }

  void take_next_set() {
    if (sets_.take) hand_over();
    const auto behind = static_cast<std::size_t>(set_ - sets_.memory.data()) + page_sets::bytes_of_set;
    const bool has_next = sets_.memory.size() - behind >= page_sets::bytes_of_set;
    set_ = sets_.memory.data() + (has_next ? behind : 0);
  }

  /// Collects the distinct pages on which the strings from `first` on begin. Returns the first position that is left
  /// for the next plan.
  std::size_t plan(std::size_t first) {
    runs_.clear();
    last_ = nullptr;
    std::size_t pages = 0;
    std::uint64_t current = page_of(address(first)) + 1;  // differs from the first page
    std::size_t i = first;
    for (; i < addresses_.size(); ++i) {
      const std::uint64_t page = page_of(address(i));
      if (page == current) continue;
      if (pages == pages_per_call) break;
      current = page;
      if (extra_.contains(page)) continue;  // already read as the continuation of an earlier string
      std::byte* data = set_ + pages++ * read_page_size;
      if (!runs_.empty() && runs_.back().begin + runs_.back().wanted == page) {
        runs_.back().wanted += read_page_size;
      } else {
        runs_.push_back({page, read_page_size, 0, data});
      }
    }
    return i;
  }

  /// Reads the planned runs. A run with an unreadable page is cut there, and the rest is requested again.
  result<void> read_runs() {
    std::size_t first = 0;
    while (first < runs_.size()) {
      std::vector<memory_range> ranges;
      ranges.reserve(runs_.size() - first);
      for (std::size_t i = first; i < runs_.size(); ++i) {
        ranges.push_back({target_address{runs_[i].begin}, {runs_[i].data, runs_[i].wanted}});
      }
      if (auto read = memory_.read_ranges(ranges); !read) return read;
      const std::size_t asked = runs_.size();
      for (std::size_t i = first; i < asked; ++i) {
        page_run& run = runs_[i];
        run.got = ranges[i - first].got;
        const std::size_t behind_hole = page_of(run.got) + read_page_size;
        if (run.got == run.wanted || behind_hole == run.wanted) continue;
        const page_run rest{run.begin + behind_hole, run.wanted - behind_hole, 0, run.data + behind_hole};
        run.wanted = behind_hole;
        runs_.push_back(rest);
      }
      first = asked;
    }
    std::sort(runs_.begin(), runs_.end(), [](const page_run& a, const page_run& b) { return a.begin < b.begin; });
    return {};
  }

  result<void> read_missing() {
    std::sort(missing_.begin(), missing_.end());
    missing_.erase(std::unique(missing_.begin(), missing_.end()), missing_.end());
    std::vector<memory_range> ranges;
    for (const std::uint64_t page : missing_) {
      auto& bytes = extra_[page].bytes;
      bytes = std::make_unique_for_overwrite<std::byte[]>(read_page_size);
      ranges.push_back({target_address{page}, {bytes.get(), read_page_size}});
    }
    for (std::size_t done = 0; done < ranges.size(); done += pages_per_call) {
      const auto some = std::span{ranges}.subspan(done, std::min(pages_per_call, ranges.size() - done));
      if (auto read = memory_.read_ranges(some); !read) return read;
    }
    for (const memory_range& range : ranges) {
      extra_[range.address.value()].run = {range.address.value(), read_page_size, range.got, range.into.data()};
    }
    missing_.clear();
    at_clear_to_ = edge::unknown;
    return {};
  }

  /// A page that was read as a continuation is kept if the next strings may begin on it.
  void forget_below(std::size_t next) {
    if (next == addresses_.size()) return;
    extra_.erase(extra_.begin(), extra_.lower_bound(page_of(address(next))));
  }

  const page_run* find(std::uint64_t where) {
    if (last_ != nullptr && last_->holds(where)) return last_;
    auto after = std::upper_bound(runs_.begin(), runs_.end(), where,
                                  [](std::uint64_t value, const page_run& run) { return value < run.begin; });
    if (after != runs_.begin() && std::prev(after)->holds(where)) return last_ = &*std::prev(after);
    const auto extra = extra_.find(page_of(where));
    return extra == extra_.end() ? nullptr : &extra->second.run;
  }

  /// Handles strings in the usual form: each begins behind the one before, and ends on the pages on which the one
  /// before begins. Returns the first position of another form.
  std::size_t resolve_simple(std::size_t position, std::size_t end) {
    if (last_ == nullptr || exhausted_) return position;
    // These are copies, so that the compiler knows that nothing below changes them.
    const page_run run = *last_;
    const auto* data = reinterpret_cast<const char*>(run.data);
    const std::size_t longest = limits_.bytes_each;
    for (; position < end; ++position) {
      const std::size_t which = index(position);
      const std::uint64_t begin = addresses_[which].value();
      const std::uint64_t offset = begin - run.begin;
      if (begin < clear_to_ || offset >= run.got) return position;
      const std::size_t in_run = run.got - offset;
      const auto* terminator =
          static_cast<const char*>(std::memchr(data + offset, 0, in_run > longest ? longest + 1 : in_run));
      if (terminator == nullptr) return position;
      const auto size = static_cast<std::size_t>(terminator - (data + offset));
      if (size > limits_.bytes_in_all - spent_) return position;
      clear_from_ = begin;
      clear_to_ = begin + size;
      at_clear_to_ = edge::unknown;
      spent_ += size;
      hand_on(which, {data + offset, size});
    }
    return position;
  }

  void resolve(std::size_t position) {
    if (exhausted_) return emit(position, string_outcome::beyond_total);
    const std::uint64_t begin = address(position);
    // Strings may overlap. A part in which the string before had no terminator is not searched again, so that the time
    // is linear in the amount of memory.
    if (begin >= clear_from_ && begin < clear_to_) {
      if (clear_to_ - begin > limits_.bytes_each) return emit(position, string_outcome::unterminated_at_limit);
      if (at_clear_to_ == edge::end_of_memory) return emit(position, string_outcome::unreadable, {}, clear_to_);
      if (at_clear_to_ == edge::missing_page) return unresolved_.push_back(position);
    } else {
      clear_from_ = clear_to_ = begin;
    }
    const page_run& run = *find(begin);
    const std::size_t offset = begin - run.begin;
    if (offset >= run.got) return emit(position, string_outcome::unreadable, {}, begin);

    const std::size_t in_run = run.got - offset;
    const std::size_t span = in_run > limits_.bytes_each ? limits_.bytes_each + 1 : in_run;
    const std::size_t clear = std::min<std::size_t>(span, clear_to_ - begin);
    const auto* text = reinterpret_cast<const char*>(run.data + offset);
    const auto* end = static_cast<const char*>(std::memchr(text + clear, 0, span - clear));
    at_clear_to_ = edge::unknown;
    if (end != nullptr) {
      clear_to_ = begin + static_cast<std::size_t>(end - text);
      return deliver(position, {text, end});
    }
    clear_to_ = std::max(clear_to_, begin + span);
    if (span > limits_.bytes_each) return emit(position, string_outcome::unterminated_at_limit);
    if (run.got < run.wanted) return end_of_memory(position);
    continue_beyond(position, run, {text, span});
  }

  void end_of_memory(std::size_t position) {
    at_clear_to_ = edge::end_of_memory;
    emit(position, string_outcome::unreadable, {}, clear_to_);
  }

  /// The string continues beyond the pages that were read together. Assembles it from the following pages.
  void continue_beyond(std::size_t position, const page_run& first, std::string_view beginning) {
    joined_.assign(beginning);
    std::uint64_t next = first.begin + first.wanted;
    while (true) {
      if (next == 0) return emit(position, string_outcome::unreadable, {}, UINT64_MAX);  // the address space ends
      const page_run* run = find(next);
      if (run == nullptr) {
        at_clear_to_ = edge::missing_page;
        missing_.push_back(next);
        return unresolved_.push_back(position);
      }
      const auto* text = reinterpret_cast<const char*>(run->data);
      const std::size_t span = std::min(run->got, limits_.bytes_each + 1 - joined_.size());
      const auto* end = static_cast<const char*>(std::memchr(text, 0, span));
      const std::size_t part = end != nullptr ? static_cast<std::size_t>(end - text) : span;
      joined_.append(text, part);
      clear_to_ = std::max(clear_to_, next + part);
      if (end != nullptr) return deliver(position, joined_);
      if (joined_.size() > limits_.bytes_each) return emit(position, string_outcome::unterminated_at_limit);
      if (run->got < run->wanted) return end_of_memory(position);
      next += run->wanted;
    }
  }

  void deliver(std::size_t position, std::string_view text) {
    exhausted_ = text.size() > limits_.bytes_in_all - spent_;
    if (exhausted_) return emit(position, string_outcome::beyond_total);
    spent_ += text.size();
    hand_on(index(position), text);
  }
  /// Texts in the set can be collected there. Texts of other pages are passed on at once.
  void hand_on(std::size_t which, std::string_view text) {
    const auto* set = reinterpret_cast<const char*>(set_);
    const bool waits = sets_.take && text.data() >= set && text.data() < set + page_sets::bytes_of_set;
    if (!waits) return visit_({which, string_outcome::ok, text, {}});
    if (placed_.size() == page_sets::most_placed) hand_over();
    placed_.push_back({text.data(), static_cast<std::uint32_t>(which), static_cast<std::uint32_t>(text.size())});
  }
  void emit(std::size_t position, string_outcome what, std::string_view text = {}, std::uint64_t stopped_at = 0) {
    visit_({index(position), what, text, target_address{stopped_at}});
  }

  struct extra_page {
    std::unique_ptr<std::byte[]> bytes;
    page_run run;
  };

  memory_reader& memory_;
  std::span<const target_address> addresses_;
  string_limits limits_;
  const std::function<void(const visited_string&)>& visit_;
  const page_sets& sets_;
  std::byte* set_;                     // the set that is being searched
  std::vector<placed_string> placed_;  // found in the set and not yet passed on
  address_order order_;
  std::vector<page_run> runs_;                 // ascending; their bytes are in the set
  std::map<std::uint64_t, extra_page> extra_;  // pages on which no string of this plan begins
  const page_run* last_ = nullptr;             // the last result of find() that is in runs_
  std::vector<std::uint64_t> missing_;
  std::vector<std::size_t> unresolved_;
  std::string joined_;
  std::uint64_t clear_from_ = 0;  // no terminator in [clear_from_, clear_to_)
  std::uint64_t clear_to_ = 0;
  enum class edge : std::uint8_t { unknown, missing_page, end_of_memory };
  edge at_clear_to_ = edge::unknown;
  std::uint64_t spent_ = 0;
  bool exhausted_ = false;
};

}  // namespace

result<void> visit_c_strings(memory_reader& memory, std::span<const target_address> addresses,
                             const string_limits& limits, const std::function<void(const visited_string&)>& visit) {
  if (addresses.empty()) return {};
  const auto pages = std::make_unique_for_overwrite<std::byte[]>(page_sets::bytes_of_set);
  return visit_c_strings(memory, addresses, limits, visit, {{pages.get(), page_sets::bytes_of_set}, {}});
}

result<void> visit_c_strings(memory_reader& memory, std::span<const target_address> addresses,
                             const string_limits& limits, const std::function<void(const visited_string&)>& visit,
                             const page_sets& sets) {
  if (addresses.empty()) return {};
  if (addresses.size() > UINT32_MAX) {
    return fail(error_code::limit, "more than 2^32 strings cannot be read together");
  }
  return string_walk(memory, addresses, limits, visit, sets).walk();
}

result<string_batch> read_c_strings(memory_reader& memory, std::span<const target_address> addresses,
                                    const string_limits& limits) {
  string_batch batch;
  batch.strings.resize(addresses.size());
  string_limits bounded = limits;
  bounded.bytes_each = std::min<std::size_t>(bounded.bytes_each, UINT32_MAX);  // the largest batched_string::length
  const auto keep = [&](const visited_string& s) {
    batch.strings[s.index] = {batch.bytes.size(), static_cast<std::uint32_t>(s.text.size()), s.what, s.stopped_at};
    batch.bytes.insert(batch.bytes.end(), s.text.begin(), s.text.end());
  };
  if (auto visited = visit_c_strings(memory, addresses, bounded, keep); !visited) return fail(visited.error());
  return batch;
}

}  // namespace mpiacq
