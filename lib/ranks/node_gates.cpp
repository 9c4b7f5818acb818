// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Opens the gates of a node's ranks without the job that controls their starter.
#include <algorithm>
#include <chrono>
#include <utility>

#include <poll.h>

#include "mpiacq/ranks/rank_options.hpp"
#include "node_ranks_state.hpp"
#include "proc/process_state.hpp"
#include "rank_gate.hpp"

namespace mpiacq {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds first_interval{20};
constexpr std::chrono::milliseconds last_interval{500};

/// False if the descriptor became readable before the time was over.
bool wait_for(std::chrono::milliseconds time, int stop) {
  pollfd one{stop, POLLIN, 0};
  return ::poll(&one, 1, static_cast<int>(std::max(time, 0ms).count())) <= 0;
}

}  // namespace

void node_ranks::set_debug_files(debug_file_search search) {
  state_->debug_files = std::move(search);
}

std::vector<result<bool>> node_ranks::open_gates(const gate_options& how, int stop) {
  std::vector<result<bool>> outcomes(state_->ranks.size(), result<bool>(true));
  std::vector<std::size_t> closed;
  for (std::size_t i = 0; i < state_->ranks.size(); ++i) {
    if (!how.ranks.contains(state_->ranks[i].entry)) continue;
    const rank_identity& identity = state_->here[i].identity;
    if (identity.state == hold_state::held) {
      closed.push_back(i);
    } else if (identity.state != hold_state::gone) {
      outcomes[i] = fail(identity.why.value_or(error{error_code::not_found, "it is not the process that was meant"}));
    }
  }
  const auto open_one = [&](std::size_t i) {
    // A rank that has ended waits at no gate, and its pid may belong to another process.
    if (!is_alive(state_->here[i].identity.process)) {
      outcomes[i] = true;
      return true;
    }
    outcomes[i] = open_rank_gate(state_->ranks[i].pid, state_->ranks[i].user, how.interface, state_->debug_files);
    return outcomes[i] ? *outcomes[i] : outcomes[i].error().code == error_code::permission;
  };
  const deadline until = clock::now() + how.limit;
  for (std::chrono::milliseconds interval = first_interval;; interval = std::min(interval * 2, last_interval)) {
    std::erase_if(closed, open_one);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now());
    if (closed.empty() || left <= 0ms || !wait_for(std::min(interval, left), stop)) return outcomes;
  }
}

}  // namespace mpiacq
