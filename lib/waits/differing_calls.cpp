// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ranks in the same collective call whose operations or amounts of data differ.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "call_facts.hpp"
#include "picture.hpp"

namespace mpiacq::waits {

namespace {

/// A collective call in which each rank must give or get the same amount of data, and the parameters that say how much.
struct same_amount {
  std::string_view function;
  mpi_role count;
  mpi_role type;
};
/// In the place of what a rank sends, MPI_IN_PLACE may stand in MPI_Allgather and MPI_Alltoall.
constexpr std::array<same_amount, 8> same_amounts = {{
    {"MPI_Allgather", mpi_role::receive_count, mpi_role::receive_type},
    {"MPI_Allreduce", mpi_role::count, mpi_role::datatype},
    {"MPI_Alltoall", mpi_role::receive_count, mpi_role::receive_type},
    {"MPI_Bcast", mpi_role::count, mpi_role::datatype},
    {"MPI_Exscan", mpi_role::count, mpi_role::datatype},
    {"MPI_Reduce", mpi_role::count, mpi_role::datatype},
    {"MPI_Reduce_scatter_block", mpi_role::receive_count, mpi_role::datatype},
    {"MPI_Scan", mpi_role::count, mpi_role::datatype},
}};

std::optional<std::uint64_t> amount_of(const rank_activity& doing) {
  for (const same_amount& one : same_amounts) {
    if (one.function == doing.function) return bytes_of(doing, one.count, one.type);
  }
  return std::nullopt;
}

/// The name of a predefined operation. An operation that the program has made has another handle in each rank.
std::string operation_of(const rank_activity& doing) {
  const mpi_argument* one = argument_of(doing, mpi_role::operation);
  return one == nullptr ? std::string() : one->name;
}

/// One collective call of one communicator: name, key, function and root.
using common = std::tuple<std::string, std::uint32_t, std::string, std::optional<std::uint32_t>>;
/// The ranks in one call, by what they have passed. Ranks whose value is not known are left out.
struct differences {
  std::map<std::uint64_t, std::vector<std::uint32_t>> amounts;
  std::map<std::string, std::vector<std::uint32_t>> operations;
};

call_mismatch begun(const std::string& communicator) {
  call_mismatch made;
  made.communicator = communicator;
  made.certain = false;
  return made;
}

/// With more different values than this, a program does not do what it should, and a longer list says no more.
constexpr std::size_t most_values = 8;

template <class Key, class Text>
void add(const std::map<Key, std::vector<std::uint32_t>>& values, call_mismatch made, Text text,
         std::vector<call_mismatch>& found) {
  if (values.size() < 2) return;
  for (const auto& [value, numbers] : values) {
    if (made.calls.size() == most_values) break;
    made.calls.push_back({text(value), set_of(numbers)});
  }
  std::sort(made.calls.begin(), made.calls.end(),
            [](const auto& a, const auto& b) { return a.ranks.lowest() < b.ranks.lowest(); });
  found.push_back(std::move(made));
}

}  // namespace

void add_differing_calls(const picture& seen, const wait_graphs& graphs, std::vector<call_mismatch>& found) {
  std::map<common, differences> calls;
  std::map<std::pair<std::string, std::uint32_t>, std::map<std::string, roots_apart>> roots;
  for (std::uint32_t report = 0; report < seen.ranks.size(); ++report) {
    const entered_call& where = graphs.entered[report];
    const rank_activity& doing = seen.ranks[report].doing;
    if (where.communicator.empty()) continue;
    const auto root = roots[{where.communicator, where.key}][doing.function].of(doing);
    differences& here = calls[{where.communicator, where.key, doing.function, root}];
    const std::uint32_t number = seen.ranks[report].entry.value();
    if (const auto amount = amount_of(doing)) here.amounts[*amount].push_back(number);
    if (auto operation = operation_of(doing); !operation.empty()) here.operations[operation].push_back(number);
  }
  for (const auto& [call, here] : calls) {
    const auto& communicator = std::get<0>(call);
    const auto& function = std::get<2>(call);
    add(
        here.operations, begun(communicator),
        [&](const std::string& name) { return fmt::format("{} with {}", function, name); }, found);
    add(
        here.amounts, begun(communicator),
        [&](std::uint64_t bytes) { return fmt::format("{} with {} byte{}", function, bytes, bytes == 1 ? "" : "s"); },
        found);
  }
}

}  // namespace mpiacq::waits
