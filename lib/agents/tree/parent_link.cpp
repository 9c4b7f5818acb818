// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tree/parent_link.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace mpiacq::agents {

namespace {

/// Until anybody listens at one of the front end's addresses, each of which is tried twice where time allows.
constexpr std::chrono::milliseconds first_limit{4000};
/// Until somebody has been reached again.
constexpr std::chrono::milliseconds give_up_after{2000};
/// For one of those above, by one address.
constexpr std::chrono::milliseconds one_try{600}, shortest_try{150};
/// An inner agent does nothing but answer: one that is up and does not is passed by.
constexpr std::chrono::milliseconds welcomed_within{1000};
/// From the front end's word who it is until a parent that listens has welcomed it. Its node may have much to do, and
/// whoever passes it by makes the tree flatter for as long as the job is looked at.
constexpr std::chrono::seconds seated_within{5};

std::chrono::milliseconds time_for_one(std::chrono::milliseconds all, std::size_t addresses) {
  return std::clamp(all / static_cast<int>(std::max<std::size_t>(addresses, 1)), shortest_try, one_try);
}

std::size_t count_addresses(const std::vector<peer_address>& way) {
  std::size_t count = 0;
  for (const peer_address& one : way) count += one.endpoints.size();
  return count;
}

}  // namespace

parent_link::parent_link(const zmq_context& context, const trust& who, peer_address front_end, node_names names,
                         peer_address own)
    : context_(context),
      who_(who),
      names_(std::move(names)),
      own_(std::move(own)),
      above_{std::move(front_end)},
      one_try_(time_for_one(first_limit, 2 * above_.front().endpoints.size())),
      give_up_at_(clock::now() + first_limit),
      give_up_in_any_case_(clock::now() + shaken_within),
      last_failure_(error_code::timed_out, "nobody answers there") {
  connect();
}

void parent_link::connect() {
  connected_ = false;
  link_.reset();
  try_next_at_ = clock::now() + one_try_;
  const peer_address& to = above_[at_];
  auto link = parent_connection::open(context_, who_, to.endpoints[endpoint_], to.key);
  if (link) {
    link_ = std::move(*link);
  } else {
    last_failure_ = std::move(link).error();
  }
}

/// Another address of the same, then the one above it, and from the front end back to the parent.
void parent_link::try_next() {
  if (++endpoint_ >= above_[at_].endpoints.size()) {
    endpoint_ = 0;
    at_ = at_ == 0 ? above_.size() - 1 : at_ - 1;
  }
  if (at_ == 0 && front_end_link_) return go_back();
  connect();
}

/// Nobody on the way to the front end takes it, which is still connected.
void parent_link::go_back() {
  at_ = 0;
  endpoint_ = 0;
  link_ = std::move(front_end_link_);
  look_for_another();
  recognised();
}

deadline parent_link::next_turn() const {
  if (!is_settled()) return std::min(try_next_at_, give_up_at_);
  return given_up_ || at_ == 0 ? no_deadline : silent_at_;
}

void parent_link::turn() {
  if (is_settled()) return miss_parent();
  const auto now = clock::now();
  if (now >= give_up_at_ && front_end_link_) {
    go_back();
  } else if (now >= give_up_at_) {
    given_up_ = error{last_failure_.code, fmt::format("nobody above can be reached ({}): {}",
                                                      above_[at_].endpoints[endpoint_], last_failure_.message)};
  } else if (now >= try_next_at_) {
    try_next();
  }
}

void parent_link::greet() {
  auto credential = link_->credential();
  if (!credential) {
    given_up_ = std::move(credential).error();
    return;
  }
  static_cast<void>(link_->send(hello{std::move(*credential), number_, names_, own_}));
}

/// Somebody listens there. Of a parent more is waited for only as long as the front end is there meanwhile.
void parent_link::reached() {
  if (connected_ || (at_ != 0 && !front_end_link_)) return;
  last_failure_ = error{error_code::timed_out, "somebody listens there, and has not shown in time who it is"};
  give_up_at_ = give_up_in_any_case_;
  try_next_at_ = give_up_in_any_case_;
}

/// It is who it should be. The front end may be busy for as long as it likes: its connection ends when it does.
void parent_link::recognised() {
  greet();
  if (connected_) return;
  if (at_ == 0) {
    give_up_at_ = no_deadline;
    try_next_at_ = no_deadline;
  } else if (!front_end_link_) {
    try_next_at_ = clock::now() + welcomed_within;
    give_up_at_ = std::min(give_up_at_ + welcomed_within, give_up_in_any_case_);
  }
}

/// libzmq tries this one again by itself, until it is time for another.
void parent_link::lost() {
  const auto now = clock::now();
  if (connected_) {
    last_failure_ = error{error_code::process_gone, "the connection has ended"};
    return look_for_another();
  }
  if (at_ == 0 && give_up_at_ == no_deadline) give_up_in_any_case_ = now + shaken_within;
  try_next_at_ = std::min(try_next_at_, now + one_try_);
  give_up_at_ = std::min(give_up_at_, now + give_up_after);
}

/// A parent says at least once a second that it is there. The front end need not: its program may be busy for minutes,
/// or stopped by its user; when it ends, or its host does, the connection does.
void parent_link::miss_parent() {
  if (given_up_ || at_ == 0 || clock::now() < silent_at_) return;
  last_failure_ = error{error_code::timed_out, "it is silent"};
  // It may be that we were stopped: then it answers at once.
  connect();
  look_for_another();
}

/// By the front end: for good. By one on the way to it: another may take what it did not.
void parent_link::refused(error&& why) {
  last_failure_ = std::move(why).while_doing(above_[at_].endpoints[endpoint_]);
  if (at_ == 0) {
    given_up_ = last_failure_;
  } else {
    connected_ = false;
    try_next();
  }
}

void parent_link::look_for_another() {
  const auto now = clock::now();
  connected_ = false;
  try_next_at_ = now + one_try_;
  give_up_at_ = now + give_up_after;
  give_up_in_any_case_ = now + shaken_within;
}

void parent_link::sit_down(const place& told) {
  number_ = told.number;
  // The address by which it was reached is the one that is good from here.
  peer_address front_end{{above_.front().endpoints[endpoint_]}, above_.front().key};
  above_ = told.above;
  above_.front() = std::move(front_end);
  endpoint_ = 0;
  one_try_ = time_for_one(give_up_after, count_addresses(above_));
  if (above_.size() == 1) {
    connected_ = true;
    return;
  }
  at_ = above_.size() - 1;
  front_end_link_ = std::move(link_);
  connect();
  look_for_another();
  give_up_in_any_case_ = clock::now() + seated_within;
}

/// The front end says nothing to one that it has sent on. That it is gone is all there is to know.
void parent_link::watch_front_end() {
  while (front_end_link_) {
    const auto happened = front_end_link_->next();
    if (!happened) return;
    if (!std::holds_alternative<link_down>(*happened)) continue;
    front_end_link_.reset();
    lost();
  }
}

std::optional<message> parent_link::next() {
  watch_front_end();
  while (link_) {
    auto happened = link_->next();
    if (!happened) return std::nullopt;
    if (auto said = take(std::move(*happened))) return said;
  }
  return std::nullopt;
}

std::optional<message> parent_link::take(uplink_event&& happened) {
  if (std::holds_alternative<link_reached>(happened)) reached();
  if (std::holds_alternative<link_up>(happened)) recognised();
  if (std::holds_alternative<link_down>(happened)) lost();
  if (auto* refused = std::get_if<link_refused>(&happened)) {
    last_failure_ = std::move(refused->why);
    // Before there was a place, nothing will change that.
    const bool is_final = last_failure_.code == error_code::permission;
    if (is_final && number_ == 0 && above_[at_].endpoints.size() == 1) given_up_ = last_failure_;
  }
  // Of another version: it will never say anything that is understood here.
  const auto* noise = std::get_if<link_noise>(&happened);
  if (noise != nullptr && noise->why.code == error_code::unsupported && number_ == 0) given_up_ = noise->why;
  auto* said = std::get_if<message>(&happened);
  if (said == nullptr) return std::nullopt;
  silent_at_ = clock::now() + silent_at_most;
  if (auto* bye = std::get_if<farewell>(said); bye != nullptr && bye->why) {
    refused(std::move(*bye->why));
    return std::nullopt;
  }
  if (const auto* placed = std::get_if<place>(said)) {
    const bool fits = number_ == 0 && placed->number != 0 && !placed->above.empty() &&
                      std::none_of(placed->above.begin(), placed->above.end(),
                                   [](const peer_address& one) { return one.endpoints.empty(); });
    if (!fits) return std::nullopt;
    sit_down(*placed);
  } else if (std::holds_alternative<welcome>(*said)) {
    connected_ = true;
    front_end_link_.reset();
  }
  return std::move(*said);
}

std::vector<zmq_pollitem_t> parent_link::poll_items() const {
  std::vector<zmq_pollitem_t> all;
  for (const parent_connection* link : {link_.get(), front_end_link_.get()}) {
    if (link == nullptr) continue;
    const auto more = link->poll_items();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace mpiacq::agents
