// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "remote/awaited_agents_state.hpp"

namespace mpiacq {

awaited_agents::awaited_agents(std::unique_ptr<state> s) : state_(std::move(s)) {}
awaited_agents::~awaited_agents() = default;
awaited_agents::awaited_agents(awaited_agents&&) noexcept = default;
awaited_agents& awaited_agents::operator=(awaited_agents&&) noexcept = default;

result<awaited_agents> awaited_agents::open(const agents_options& options) {
  auto made = std::make_unique<state>();
  made->agents = std::make_unique<agents::node_agents>(options);
  auto request = made->agents->listen_for_daemons();
  if (!request) return fail(std::move(request).error());
  made->request = std::move(*request);
  made->request.only_if_possible = true;
  return awaited_agents(std::move(made));
}

const mpir::daemon_request& awaited_agents::request() const {
  return state_->request;
}

void awaited_agents::send_away(std::size_t nodes) {
  state_->agents->reach({}, nodes);
  state_->agents->expect_no_more();
}

}  // namespace mpiacq
