// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "seat.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace mpiacq::agents {

namespace {

/// Until anybody listens at one of the front end's addresses, each of which is tried twice.
constexpr std::chrono::milliseconds first_limit{4000};
constexpr std::size_t most_endpoints = 16;
/// Until somebody has been reached again.
constexpr std::chrono::milliseconds give_up_after{2000};
/// For one of those above, by one address.
constexpr std::chrono::milliseconds one_try{600};
/// A front end that is there may have thousands to greet, or look at ranks of its own meanwhile, before it answers.
constexpr std::chrono::seconds greeted_within{20};
constexpr std::chrono::seconds busy_at_most{10};

deadline first_deadline(const peer_address& front_end) {
  const auto tries = static_cast<int>(2 * std::min(front_end.endpoints.size(), most_endpoints));
  return clock::now() + std::max(first_limit, tries * one_try);
}

}  // namespace

seat::seat(const zmq_context& context, const trust& who, peer_address front_end, node_names names, peer_address own)
    : context_(context),
      who_(who),
      names_(std::move(names)),
      own_(std::move(own)),
      above_{std::move(front_end)},
      give_up_at_(first_deadline(above_.front())),
      give_up_in_any_case_(clock::now() + greeted_within),
      last_failure_(error_code::timed_out, "nobody answers there") {
  connect();
}

void seat::connect() {
  connected_ = false;
  link_.reset();
  try_next_at_ = clock::now() + one_try;
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
  if (is_settled()) return;
  const auto now = clock::now();
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
  const auto now = clock::now();
  if (connected_) {
    last_failure_ = error{error_code::process_gone, "the connection has ended"};
    return look_for_another();
  }
  try_next_at_ = std::min(try_next_at_, now + one_try);
  give_up_at_ = std::min(give_up_at_, now + give_up_after);
}

void seat::look_for_another() {
  const auto now = clock::now();
  connected_ = false;
  try_next_at_ = now + one_try;
  give_up_at_ = now + give_up_after;
  give_up_in_any_case_ = now + busy_at_most;
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
    give_up_at_ = give_up_in_any_case_;
    try_next_at_ = give_up_in_any_case_;
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
    if (stays) {
      connected_ = true;
    } else {
      at_ = above_.size() - 1;
      endpoint_ = 0;
      connect();
      look_for_another();
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
