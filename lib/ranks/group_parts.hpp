// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "limit_descriptor.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "rank_backend.hpp"

namespace mpiacq {

struct job_description;

/// What a group consists of: backends, each with some of its ranks.
struct group_parts {
  using progress = std::function<void(std::size_t done, std::size_t all)>;

  explicit group_parts(rank_options how) : options(std::move(how)), limit(options.until) {}
  [[nodiscard]] static rank_group make(std::unique_ptr<group_parts> parts) { return rank_group(std::move(parts)); }

  rank_options options;
  limit_descriptor limit;
  std::shared_ptr<const process_table> table;  ///< null if the ranks are not from a table
  std::vector<std::unique_ptr<rank_backend>> backends;
  std::vector<rank_process> ranks;  ///< of all backends, in order of entries

  /// Appends a backend and updates `ranks`.
  void add(std::unique_ptr<rank_backend> backend);
  /// Asks all backends, and then collects their answers. A rank that a backend's answer lacks is refused with the
  /// backend's reason.
  [[nodiscard]] rank_answer ask(const rank_question& what, const progress& tell = {});
  template <class Part>
  [[nodiscard]] Part ask_for(const rank_question& what, const progress& tell = {}) {
    auto answer = ask(what, tell);
    auto* part = std::get_if<Part>(&answer);
    return part == nullptr ? Part{} : std::move(*part);
  }
  /// The caller's options, with the group's debug files added.
  [[nodiscard]] rank_queue_options completed(rank_queue_options how) const;
};

/// Makes the group of the selected ranks of a job. `here` are the ranks of this node; the caller has chosen how they
/// are stopped. lib/agents implements this function. Errors as `job_description::ranks`.
[[nodiscard]] result<rank_group> make_rank_group(const job_description& job, const rank_options& options,
                                                 std::shared_ptr<node_ranks> here);

}  // namespace mpiacq
