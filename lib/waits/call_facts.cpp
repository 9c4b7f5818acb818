// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "call_facts.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "handles/predefined_handles.hpp"

namespace mpiacq::waits {

namespace {

/// Data goes from the root to all others.
bool goes_from_root(std::string_view function) {
  static constexpr std::array<std::string_view, 3> all = {"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"};
  return std::find(all.begin(), all.end(), function) != all.end();
}

/// Data goes from all others to the root.
bool goes_to_root(std::string_view function) {
  static constexpr std::array<std::string_view, 3> all = {"MPI_Gather", "MPI_Gatherv", "MPI_Reduce"};
  return std::find(all.begin(), all.end(), function) != all.end();
}

/// The size of one element of a predefined type; 0 if it is not known.
std::uint64_t bytes_of_type(std::string_view name) {
  for (const predefined_handle& one : predefined_handles()) {
    if (one.kind == mpi_handle_kind::datatype && one.name == name) return one.bytes;
  }
  return 0;
}

template <class Condition>
std::vector<absentee> those(const std::vector<absentee>& all, Condition condition) {
  std::vector<absentee> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some), condition);
  return some;
}

}  // namespace

const mpi_argument* argument_of(const rank_activity& doing, mpi_role role) {
  for (const mpi_argument& one : doing.arguments) {
    if (one.role == role && one.is_known) return &one;
  }
  return nullptr;
}

bool is_on_world(const rank_activity& doing) {
  const mpi_argument* on = argument_of(doing, mpi_role::communicator);
  return on != nullptr && on->name == "MPI_COMM_WORLD";
}

std::optional<std::uint32_t> root_of(const rank_activity& doing) {
  const mpi_argument* root = argument_of(doing, mpi_role::root);
  if (root == nullptr || !root->name.empty() || root->value < 0 || root->value >= UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(root->value);
}

std::optional<std::uint32_t> roots_apart::of(const rank_activity& doing) {
  constexpr std::size_t most = 8;
  const auto root = root_of(doing);
  if (!root || roots_.contains(*root)) return root;
  if (roots_.size() == most) return std::nullopt;
  roots_.insert(*root);
  return root;
}

std::optional<std::uint64_t> bytes_of(const rank_activity& doing, mpi_role count, mpi_role type) {
  const mpi_argument* elements = argument_of(doing, count);
  const mpi_argument* of_type = argument_of(doing, type);
  if (elements == nullptr || of_type == nullptr || elements->value < 0) return std::nullopt;
  const std::uint64_t each = bytes_of_type(of_type->name);
  const auto number = static_cast<std::uint64_t>(elements->value);
  if (each == 0 || number > UINT64_MAX / each) return std::nullopt;
  return each * number;
}

std::optional<std::uint64_t> bytes_sent(const rank_activity& doing) {
  const auto found = bytes_of(doing, mpi_role::send_count, mpi_role::send_type);
  return found ? found : bytes_of(doing, mpi_role::count, mpi_role::datatype);
}

std::vector<absentee> probably_awaited(const std::vector<absentee>& absent, std::string_view function, bool by_root) {
  const auto roots = those(absent, [](const absentee& one) { return one.is_root; });
  auto late = those(absent, [](const absentee& one) { return !one.is_in_another; });
  const bool root_is_late = std::any_of(late.begin(), late.end(), [](const absentee& one) { return one.is_root; });
  const bool needs_root = goes_from_root(function) || (goes_to_root(function) && !by_root);
  if (needs_root && !roots.empty() && (root_is_late || late.empty())) return roots;
  return late.empty() ? absent : late;
}

std::array<role_in_call, 2> root_and_others(const std::vector<std::uint32_t>& reports,
                                            const std::function<bool(std::uint32_t)>& is_root,
                                            const std::vector<absentee>& absent, std::string_view function) {
  role_in_call root{{}, probably_awaited(absent, function, true)};
  role_in_call others{{}, probably_awaited(absent, function, false)};
  for (const std::uint32_t report : reports) (is_root(report) ? root : others).reports.push_back(report);
  return {std::move(root), std::move(others)};
}

}  // namespace mpiacq::waits
