// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "seat.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace mpiacq::agents {

namespace {

/// Until the front end has answered for the first time: it may have thousands to answer.
constexpr std::chrono::seconds first_limit{20};
/// Until somebody has been reached again.
constexpr std::chrono::milliseconds give_up_after{2000};
/// For one of those above, by one address.
constexpr std::chrono::milliseconds one_try{600};
/// At the beginning there is only one, and an unanswered greeting is no reason to go.
constexpr std::chrono::seconds first_try{3};

/// A front end that looks at ranks of its own meanwhile is reached, and does not answer yet.
constexpr std::chrono::seconds busy_at_most{10};

}  // namespace

seat::seat(const zmq_context& context, const trust& who, peer_address front_end, node_names names, peer_address own)
    : context_(context),
      who_(who),
      names_(std::move(names)),
      own_(std::move(own)),
      above_{std::move(front_end)},
      give_up_at_(clock::now() + first_limit),
      last_failure_(error_code::timed_out, "nobody answers there") {
  connect();
}

void seat::connect() {
  connected_ = false;
  link_.reset();
  try_next_at_ = clock::now() + (number_ == 0 ? std::chrono::milliseconds(first_try) : one_try);
  const peer_address& to = above_[at_];
  auto link = uplink::open(context_, who_, to.endpoints[endpoint_], to.key);
  if (link) {
    link_ = std::move(*link);
  } else {
    last_failure_ = std::move(link).error();
  }
}

/// Another address of the same, then the one above it, and from the front end back to the parent.
void seat::try_next() {
  if (++endpoint_ >= above_[at_].endpoints.size()) {
    endpoint_ = 0;
    at_ = at_ == 0 ? above_.size() - 1 : at_ - 1;
  }
  connect();
}

void seat::turn() {
  const auto now = clock::now();
  if (given_up_ || (connected_ && link_)) return;
  if (now >= give_up_at_) {
    given_up_ = error{last_failure_.code, fmt::format("nobody above can be reached ({}): {}",
                                                      above_[at_].endpoints[endpoint_], last_failure_.message)};
  } else if (now >= try_next_at_) {
    try_next();
  }
}

void seat::greet() {
  auto credential = link_->credential();
  if (!credential) {
    given_up_ = std::move(credential).error();
    return;
  }
  static_cast<void>(link_->send(hello{std::move(*credential), number_, names_, own_}));
}

/// libzmq tries this one again by itself, until it is time for another.
void seat::lost() {
  if (!connected_) return;
  connected_ = false;
  last_failure_ = error{error_code::process_gone, "the connection has ended"};
  give_up_at_ = clock::now() + give_up_after;
  try_next_at_ = clock::now() + one_try;
}

std::optional<message> seat::next() {
  while (link_) {
    auto happened = link_->next();
    if (!happened) return std::nullopt;
    if (auto said = take(std::move(*happened))) return said;
  }
  return std::nullopt;
}

std::optional<message> seat::take(uplink_event&& happened) {
  if (std::holds_alternative<link_reached>(happened) && at_ == 0 && !connected_) {
    give_up_at_ = std::max(give_up_at_, clock::now() + busy_at_most);
    try_next_at_ = std::max(try_next_at_, clock::now() + busy_at_most);
  }
  if (std::holds_alternative<link_up>(happened)) greet();
  if (std::holds_alternative<link_down>(happened)) lost();
  if (auto* refused = std::get_if<link_refused>(&happened)) {
    last_failure_ = std::move(refused->why);
    // Before there was a place, nothing will change that.
    if (number_ == 0 && above_[at_].endpoints.size() == 1) given_up_ = last_failure_;
  }
  auto* said = std::get_if<message>(&happened);
  if (said == nullptr) return std::nullopt;
  if (const auto* placed = std::get_if<place>(said)) {
    const bool fits = number_ == 0 && placed->number != 0 && !placed->above.empty() &&
                      std::none_of(placed->above.begin(), placed->above.end(),
                                   [](const peer_address& one) { return one.endpoints.empty(); });
    if (!fits) return std::nullopt;
    number_ = placed->number;
    const bool stays = placed->above.size() == 1;
    // The address by which it was reached is the one that is good from here.
    auto front_end = std::move(above_.front());
    above_ = placed->above;
    above_.front() = std::move(front_end);
    give_up_at_ = clock::now() + give_up_after;
    if (stays) {
      connected_ = true;
    } else {
      at_ = above_.size() - 1;
      endpoint_ = 0;
      connect();
    }
  } else if (std::holds_alternative<welcome>(*said)) {
    connected_ = true;
  }
  return std::move(*said);
}

std::vector<zmq_pollitem_t> seat::poll_items() const {
  return link_ ? link_->poll_items() : std::vector<zmq_pollitem_t>();
}

}  // namespace mpiacq::agents
