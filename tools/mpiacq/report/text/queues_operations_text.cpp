// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The pending operations: one table for all ranks, or (--verbose) all data of the queue library about each operation.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "report/call_chains.hpp"
#include "report/merged_rows.hpp"
#include "report/queues_parts.hpp"
#include "report/queues_report.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

std::string peer_text(const peer& who, bool is_inter) {
  const std::string_view side = is_inter ? "remote " : "";
  if (who.any) return fmt::format("{}any", side);
  const std::string local = fmt::format("{}{}", side, who.local ? std::to_string(*who.local) : "?");
  if (!who.global || (!is_inter && who.local && *who.local == static_cast<std::int64_t>(*who.global))) return local;
  return fmt::format("{} (rank {})", local, *who.global);
}

std::string name_of(const queue_communicator& own) {
  return printable(own.name.empty() ? fmt::format("{:#x}", own.id) : own.name);
}

std::string length_text(std::int64_t length, length_unit unit) {
  return unit == length_unit::unknown ? std::to_string(length) : fmt::format("{} {}", length, name(unit));
}

std::string_view direction(queue_class queue) {
  static constexpr std::array<std::string_view, 3> directions = {"send to", "receive from", "message from"};
  return directions[static_cast<std::size_t>(queue)];
}

/// The state of each operation, by its position: "" if it is under way.
class standings {
 public:
  explicit standings(const queue_waits& waits) {
    for (const unpaired_operation& single : waits.unpaired) {
      states_[key_of(single.where)] = single.unmatched ? "unmatched" : "other side not known";
    }
    for (const operation_pair& pair : waits.pairs) {
      states_[key_of(pair.send)] = "paired";
      states_[key_of(pair.receive)] = "paired";
    }
  }
  [[nodiscard]] std::string of(const operation_place& place, const queue_operation& operation) const {
    if (operation.status != operation_status::pending) return std::string(name(operation.status));
    if (operation.tag && *operation.tag < 0) return "the library's own";
    if (place.queue == queue_class::unexpected) return "unexpected";
    const auto found = states_.find(key_of(place));
    return found == states_.end() ? "" : std::string(found->second);
  }

 private:
  using key = std::tuple<std::uint32_t, std::uint32_t, queue_class, std::uint32_t>;
  static key key_of(const operation_place& place) {
    return {place.rank, place.communicator, place.queue, place.operation};
  }
  std::map<key, std::string_view> states_;
};

/// Calls visit(communicator, place, operation) for all operations of a rank, in the library's order, until it is false.
template <class Visit>
void visit_operations(const queues_snapshot& snapshot, std::uint32_t rank, Visit visit) {
  const auto& report = snapshot.seen.ranks[rank].report;
  if (!report) return;
  for (std::uint32_t c = 0; c < report->communicators.size(); ++c) {
    const queue_communicator& own = report->communicators[c];
    for (const queue_class queue : all_queue_classes) {
      const auto& operations = own.of(queue).operations;
      for (std::uint32_t o = 0; o < operations.size(); ++o) {
        if (!visit(own, operation_place{rank, c, queue, o}, operations[o])) return;
      }
    }
  }
}

/// Whether mpiacq has read operations of the rank from its memory.
bool has_operations_from_memory(const queue_report& report) {
  const auto is_from_memory = [](const queue_listing& queue) {
    return queue.origin == queue_origin::memory && !queue.operations.empty();
  };
  return std::any_of(report.communicators.begin(), report.communicators.end(), [&](const queue_communicator& own) {
    return std::any_of(own.queues.begin(), own.queues.end(), is_from_memory);
  });
}

std::size_t operations_of(const queues_snapshot& snapshot, std::uint32_t rank) {
  std::size_t count = 0;
  const auto& report = snapshot.seen.ranks[rank].report;
  if (!report) return count;
  for (const queue_communicator& own : report->communicators) {
    for (const queue_listing& queue : own.queues) count += queue.operations.size();
  }
  return count;
}

text_row row_of(const queue_communicator& own, length_unit unit, const operation_place& place,
                const queue_operation& operation, const standings& states) {
  const peer& other =
      place.queue == queue_class::unexpected && operation.actual ? operation.actual->from_or_to : operation.desired;
  const auto tag = place.queue == queue_class::unexpected && operation.actual ? operation.actual->tag : operation.tag;
  return {name_of(own),
          std::string(direction(place.queue)),
          peer_text(other, own.is_inter.value_or(false)),
          tag ? std::to_string(*tag) : "any",
          length_text(operation.length, unit),
          states.of(place, operation)};
}

/// All data of the library about one operation.
std::string details_of(const queue_communicator& own, length_unit unit, const operation_place& place,
                       const queue_operation& operation, const standings& states) {
  const bool is_inter = own.is_inter.value_or(false);
  std::string text =
      fmt::format("      {} {}, tag {}, {}, status {}", direction(place.queue), peer_text(operation.desired, is_inter),
                  operation.tag ? std::to_string(*operation.tag) : "any", length_text(operation.length, unit),
                  name(operation.status));
  const std::string standing = states.of(place, operation);
  if (!standing.empty() && standing != name(operation.status)) text += ", " + standing;
  if (own.of(place.queue).origin == queue_origin::memory) text += ", from the rank's memory";
  text += fmt::format(", {} buffer {:#x}\n", operation.system_buffer ? "system" : "user", operation.buffer.value());
  if (operation.actual) {
    text += fmt::format("        actual: rank {}, tag {}, {}\n", peer_text(operation.actual->from_or_to, is_inter),
                        operation.actual->tag, length_text(operation.actual->length, unit));
  }
  for (const std::string& line : operation.extra) text += "        " + printable(line) + "\n";
  return text;
}

}  // namespace

std::string operations_text(const queues_snapshot& snapshot) {
  const standings states(snapshot.waits);
  merged_rows<text_row> merged(rows_shown);
  std::size_t count = 0;
  rank_set from_memory;
  for (std::uint32_t i = 0; i < snapshot.seen.ranks.size(); ++i) {
    const rank_report& rank = snapshot.seen.ranks[i];
    if (!lists_queues(rank)) continue;  // what is not believed is not shown
    if (has_operations_from_memory(*rank.report)) from_memory.add(rank.entry);
    std::vector<text_row> own;
    visit_operations(snapshot, i, [&](const queue_communicator& c, const operation_place& place, const auto& op) {
      own.push_back(row_of(c, rank.report->unit, place, op, states));
      return own.size() < merged.most();
    });
    merged.add(rank.entry, own);
    count += operations_of(snapshot, i);
  }
  if (count == 0) return "  no pending operation is known\n";
  std::vector<text_row> table = {{"ranks", "communicator", "operation", "rank", "tag", "length", "state"}};
  std::size_t shown = 0;
  for (const auto& [cells, ranks] : merged.rows()) {
    table.push_back(cells);
    table.back().insert(table.back().begin(), ranks_text(ranks, snapshot.names));
    shown += ranks.count();
  }
  std::string text = fmt::format("  {}:\n{}", counted(count, "operation", "operations"), columns(table));
  if (shown < count) text += fmt::format("  and {} more: see --verbose or --json\n", count - shown);
  if (!from_memory.empty()) {
    text +=
        fmt::format("  the queue library does not list unexpected messages: those of {} are from the memory of {}\n",
                    ranks_words(from_memory, snapshot.names), from_memory.count() == 1 ? "the rank" : "the ranks");
  }
  return text;
}

void write_every_operation(report_stream& out, const queues_snapshot& snapshot) {
  const standings states(snapshot.waits);
  for (std::uint32_t i = 0; i < snapshot.seen.ranks.size(); ++i) {
    const rank_report& rank = snapshot.seen.ranks[i];
    if (!rank.report) continue;
    out.write(fmt::format("  rank {}:\n", snapshot.names.of(rank.entry)));
    for (std::uint32_t c = 0; c < rank.report->communicators.size(); ++c) {
      const queue_communicator& own = rank.report->communicators[c];
      out.write(fmt::format("    {} (id {:#x}), rank {} of {}\n", name_of(own), own.id, own.local_rank, own.size));
      for (const queue_class queue : all_queue_classes) {
        const auto& operations = own.of(queue).operations;
        for (std::uint32_t o = 0; o < operations.size(); ++o) {
          out.write(details_of(own, rank.report->unit, {i, c, queue, o}, operations[o], states));
        }
      }
    }
  }
}

}  // namespace mpiacq::tool
