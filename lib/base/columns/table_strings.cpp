// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "columns/table_strings.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <string>

#include "columns/ordered_worker.hpp"
#include "mpiacq/base/page_sets.hpp"

namespace mpiacq {

namespace {
field_fault fault_of(string_outcome what) {
  switch (what) {
    case string_outcome::unterminated_at_limit:
      return field_fault::too_long;
    case string_outcome::beyond_total:
      return field_fault::beyond_limit;
    default:
      return field_fault::unreadable;
  }
}

/// With fewer strings, starting a thread costs more than it saves.
constexpr std::size_t worth_a_thread = 16384;

/// Strings for the thread that stores them: those whose texts are in the read pages, and others.
class parcel {
 public:
  /// Takes `strings`, and leaves an empty vector.
  void put(std::vector<placed_string>& strings) {
    placed_.clear();
    placed_.swap(strings);
  }
  void put(const visited_string& s) {
    others_.push_back(s);
    if (s.what != string_outcome::ok) return;
    copied_bytes_ += s.text.size();
    others_.back().text = copied_.emplace_back(s.text);
  }
  [[nodiscard]] bool is_full() const {
    return others_.size() >= page_sets::most_placed || copied_bytes_ >= most_copied;
  }
  template <class TakePlaced, class TakeOther>
  void empty_into(TakePlaced take_placed, TakeOther take_other) {
    for (const placed_string& s : placed_) take_placed(s);
    for (const visited_string& s : others_) take_other(s);
    placed_.clear();
    others_.clear();
    copied_.clear();
    copied_bytes_ = 0;
  }

 private:
  static constexpr std::size_t most_copied = std::size_t{256} << 10;
  std::vector<placed_string> placed_;
  std::vector<visited_string> others_;
  std::deque<std::string> copied_;  // a deque, so that texts do not move
  std::size_t copied_bytes_ = 0;
};
}  // namespace

result<void> table_strings::read(memory_reader& memory, std::span<const target_address> addresses,
                                 const string_limits& limits,
                                 const std::function<column<target_address>()>& take_addresses) {
  pool_ = string_pool(addresses.size());
  const string_limits bounds{std::min<std::size_t>(limits.bytes_each, UINT32_MAX - 1), limits.bytes_in_all};
  std::array<parcel, ordered_worker::buffers> parcels;
  std::unique_ptr<std::byte[]> pages;
  ordered_worker keeping(addresses.size() >= worth_a_thread);  // destroyed before the parcels and pages that it uses
  if (!keeping.has_thread()) {
    const auto keep_it = [this](const visited_string& s) { keep(s); };
    if (auto read = visit_c_strings(memory, addresses, bounds, keep_it); !read) return read;
  } else {
    std::size_t filled = 0;
    const auto hand_over = [&] {
      keeping.add([this, &full = parcels[filled]] {
        full.empty_into(
            [this](const placed_string& s) {
              keep_text(s.index, {s.text, s.length});
            },
            [this](const visited_string& s) { keep(s); });
      });
      filled = (filled + 1) % parcels.size();
    };
    constexpr std::size_t size = ordered_worker::buffers * page_sets::bytes_of_set;
    pages = std::make_unique_for_overwrite<std::byte[]>(size);
    const auto put = [&](const visited_string& s) {
      if (parcels[filled].is_full()) hand_over();
      parcels[filled].put(s);
    };
    // Each set of pages is passed on with its own parcel, so that it is not filled again too early.
    const auto take = [&](std::vector<placed_string>& placed) {
      parcels[filled].put(placed);
      hand_over();
    };
    if (auto read = visit_c_strings(memory, addresses, bounds, put, {{pages.get(), size}, take}); !read) return read;
    hand_over();
    keeping.finish();
  }
  const bool are_spare = take_addresses && failures_.empty();
  pool_.finish(keeping, are_spare ? take_addresses() : column<target_address>{});
  return {};
}

void table_strings::keep(const visited_string& s) {
  const auto id = static_cast<std::uint32_t>(s.index);
  if (s.what == string_outcome::ok) return keep_text(id, s.text);
  pool_.add_failure(id, static_cast<std::uint32_t>(failures_.size()));
  failures_.push_back({fault_of(s.what), s.stopped_at});
}

void table_strings::keep_text(std::uint32_t id, std::string_view text) {
  saw_empty_ = saw_empty_ || text.empty();
  pool_.add(id, text);
}

void table_strings::take(std::span<const std::string_view> texts) {
  pool_ = string_pool(texts.size());
  for (std::uint32_t id = 0; id < texts.size(); ++id) pool_.add(id, texts[id]);
  pool_.finish();
}

const table_strings::failure* table_strings::failure_of(std::uint32_t id) {
  const string_pool::entry& string = pool_.entries()[id];
  return string.same_as != string_pool::none ? nullptr : &failures_[string.length];
}

bool table_strings::is_empty(std::uint32_t id) const {
  const std::uint32_t kept = string_pool::kept_as(pool_.entries(), id);
  return kept != none && pool_.entries()[kept].length == 0;
}

void table_strings::renumber(std::initializer_list<column<std::uint32_t>*> columns) {
  strings_ = std::move(pool_.entries());
  texts_ = std::move(pool_.texts());
  const bool gaps = pool_.has_gaps(strings_.size());
  pool_ = string_pool{0};  // its hash table is no longer needed
  failures_ = {};
  if (!gaps) return;
  std::vector<std::uint32_t> number(strings_.size(), none);
  const auto kept_as = [&](std::uint32_t id) { return string_pool::kept_as(strings_, id); };
  std::uint32_t next = 0;
  for (std::uint32_t id = 0; id < strings_.size(); ++id) {
    if (kept_as(id) == id) number[id] = next++;
  }
  for (std::uint32_t id = 0; id < strings_.size(); ++id) {
    const std::uint32_t kept = kept_as(id);
    if (kept != none) number[id] = number[kept];
  }
  for (column<std::uint32_t>* ids : columns) {
    for (std::uint32_t& id : ids->span()) id = id < number.size() ? number[id] : id;
  }
  std::uint32_t kept = 0;
  for (std::uint32_t id = 0; id < strings_.size(); ++id) {
    if (strings_[id].same_as == id) strings_[kept++] = strings_[id];
  }
  strings_.shrink(kept);
  strings_.trim();
}

}  // namespace mpiacq
