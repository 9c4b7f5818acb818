// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tree/parent_link.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "wire/protocol_times.hpp"

namespace mpiacq::agents {

namespace {

/// Time until a process listens at one of the front end's addresses. Each is tried twice if the time suffices.
constexpr std::chrono::milliseconds first_limit{4000};
/// Time to reach any process on the path again.
constexpr std::chrono::milliseconds search_limit{2000};
/// Time for one address.
constexpr std::chrono::milliseconds longest_try{600}, shortest_try{150};
/// Time for an agent that was reached to send its welcome. An agent's thread has no other work, so that a slow one is
/// left out.
constexpr std::chrono::milliseconds welcome_limit{1000};
/// Time from the assignment to the parent's welcome. The parent's node may be busy, and each agent that leaves its
/// parent out makes the tree flatter for as long as the job is examined.
constexpr std::chrono::seconds first_welcome_limit{5};

std::chrono::milliseconds time_for_one(std::chrono::milliseconds all, std::size_t addresses) {
  return std::clamp(all / static_cast<int>(std::max<std::size_t>(addresses, 1)), shortest_try, longest_try);
}

std::size_t count_addresses(const std::vector<peer_address>& path) {
  std::size_t count = 0;
  for (const peer_address& one : path) count += one.endpoints.size();
  return count;
}

}  // namespace

parent_link::parent_link(const zmq_context& context, const trust& proof, peer_address front_end, node_names names,
                         peer_address own)
    : context_(context),
      trust_(proof),
      names_(std::move(names)),
      own_(std::move(own)),
      path_{std::move(front_end)},
      time_per_address_(time_for_one(first_limit, 2 * path_.front().endpoints.size())),
      give_up_at_(clock::now() + first_limit),
      give_up_in_any_case_(clock::now() + handshake_limit),
      last_failure_(error_code::timed_out, "no process answers there") {
  connect();
}

deadline parent_link::next_turn() const {
  if (is_searching()) return std::min(next_address_at_, give_up_at_);
  return failure_ || target_ == 0 ? no_deadline : silent_at_;
}

void parent_link::turn() {
  if (!is_searching()) return check_silence();
  const auto now = clock::now();
  if (now >= give_up_at_ && front_end_link_) {
    return_to_front_end();
  } else if (now >= give_up_at_) {
    failure_ = error{last_failure_.code, fmt::format("neither the front end nor an agent above can be reached ({}): {}",
                                                     current_endpoint(), last_failure_.message)};
  } else if (now >= next_address_at_) {
    try_next_address();
  }
}

std::optional<message> parent_link::next() {
  watch_front_end();
  while (link_) {
    auto event = link_->next();
    if (!event) return std::nullopt;
    auto* said = std::get_if<message>(&*event);
    if (said == nullptr) {
      handle(std::move(*event));
    } else if (auto for_agent = take(std::move(*said))) {
      return for_agent;
    }
  }
  return std::nullopt;
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

// --- Finding a parent ------------------------------------------------------------------------------------------------

void parent_link::connect() {
  accepted_ = false;
  link_.reset();
  next_address_at_ = clock::now() + time_per_address_;
  auto link = parent_connection::open(context_, trust_, current_endpoint(), path_[target_].key);
  if (link) {
    link_ = std::move(*link);
  } else {
    last_failure_ = std::move(link).error();
  }
}

/// Tries the next address of the same process, then the process above it. After the front end follows the parent again.
void parent_link::try_next_address() {
  if (++endpoint_ >= path_[target_].endpoints.size()) {
    endpoint_ = 0;
    target_ = target_ == 0 ? path_.size() - 1 : target_ - 1;
  }
  if (target_ == 0 && front_end_link_) return return_to_front_end();
  connect();
}

/// No agent on the path has welcomed this one, and the front end is still connected.
void parent_link::return_to_front_end() {
  target_ = 0;
  endpoint_ = 0;
  link_ = std::move(front_end_link_);
  search();
  recognised();
}

void parent_link::search() {
  const auto now = clock::now();
  accepted_ = false;
  next_address_at_ = now + time_per_address_;
  give_up_at_ = now + search_limit;
  give_up_in_any_case_ = now + handshake_limit;
}

void parent_link::greet() {
  auto credential = link_->credential();
  if (!credential) {
    failure_ = std::move(credential).error();
    return;
  }
  static_cast<void>(link_->send(hello{std::move(*credential), number_, names_, own_}));
}

// --- Events of the connection ----------------------------------------------------------------------------------------

void parent_link::handle(parent_event&& event) {
  if (std::holds_alternative<link_reached>(event)) return reached();
  if (std::holds_alternative<link_up>(event)) return recognised();
  if (std::holds_alternative<link_down>(event)) return lost();
  if (auto* refused = std::get_if<link_refused>(&event)) return connection_refused(std::move(refused->why));
  // Another version will never send a message that this one can read.
  const auto* noise = std::get_if<link_noise>(&event);
  if (noise != nullptr && noise->why.code == error_code::unsupported && number_ == 0) failure_ = noise->why;
}

/// A process listens at the address. A process other than the front end gets the time of a handshake only while the
/// front end stays connected.
void parent_link::reached() {
  if (accepted_ || (target_ != 0 && !front_end_link_)) return;
  last_failure_ =
      error{error_code::timed_out, "a process listens there, and has not shown in time that it has the key"};
  give_up_at_ = give_up_in_any_case_;
  next_address_at_ = give_up_in_any_case_;
}

/// The peer has the expected key. The front end may be busy for any time: its connection ends when it does.
void parent_link::recognised() {
  greet();
  if (accepted_) return;
  if (target_ == 0) {
    give_up_at_ = no_deadline;
    next_address_at_ = no_deadline;
  } else if (!front_end_link_) {
    next_address_at_ = clock::now() + welcome_limit;
    give_up_at_ = std::min(give_up_at_ + welcome_limit, give_up_in_any_case_);
  }
}

/// libzmq tries the same address again until this link chooses another.
void parent_link::lost() {
  const auto now = clock::now();
  if (accepted_) {
    last_failure_ = error{error_code::process_gone, "the connection has ended"};
    return search();
  }
  if (target_ == 0 && give_up_at_ == no_deadline) give_up_in_any_case_ = now + handshake_limit;
  next_address_at_ = std::min(next_address_at_, now + time_per_address_);
  give_up_at_ = std::min(give_up_at_, now + search_limit);
}

void parent_link::connection_refused(error&& why) {
  last_failure_ = std::move(why);
  // Without an assignment and without another address this failure is final.
  const bool is_final = last_failure_.code == error_code::permission;
  if (is_final && number_ == 0 && path_[target_].endpoints.size() == 1) failure_ = last_failure_;
}

/// A refusal by the front end is final. If an agent refuses the greeting, another one may accept it.
void parent_link::greeting_refused(error&& why) {
  last_failure_ = std::move(why).while_doing(current_endpoint());
  if (target_ == 0) {
    failure_ = last_failure_;
  } else {
    accepted_ = false;
    try_next_address();
  }
}

/// A parent sends a heartbeat at least once a second. The front end need not: its program may be busy for minutes, or
/// stopped by its user. When it ends, or its host does, the connection ends.
void parent_link::check_silence() {
  if (failure_ || target_ == 0 || clock::now() < silent_at_) return;
  last_failure_ = error{error_code::timed_out, "it is silent"};
  // If this agent was stopped, and not its parent, then the parent answers at once.
  connect();
  search();
}

/// The front end sends nothing to an agent that has another parent. The only event is the end of the connection.
void parent_link::watch_front_end() {
  while (front_end_link_) {
    const auto event = front_end_link_->next();
    if (!event) return;
    if (!std::holds_alternative<link_down>(*event)) continue;
    front_end_link_.reset();
    lost();
  }
}

// --- Messages --------------------------------------------------------------------------------------------------------

std::optional<message> parent_link::take(message&& said) {
  silent_at_ = clock::now() + silent_at_most;
  if (auto* end = std::get_if<goodbye>(&said); end != nullptr && end->why) {
    greeting_refused(std::move(*end->why));
    return std::nullopt;
  }
  if (const auto* given = std::get_if<assignment>(&said)) {
    const bool is_usable = number_ == 0 && given->number != 0 && !given->above.empty() &&
                           std::none_of(given->above.begin(), given->above.end(),
                                        [](const peer_address& one) { return one.endpoints.empty(); });
    if (!is_usable) return std::nullopt;
    take_assignment(*given);
  } else if (std::holds_alternative<welcome>(said)) {
    accepted_ = true;
    front_end_link_.reset();
  }
  return std::move(said);
}

void parent_link::take_assignment(const assignment& given) {
  number_ = given.number;
  // From this node, the front end is reached by the address that has just worked.
  peer_address front_end{{current_endpoint()}, path_.front().key};
  path_ = given.above;
  path_.front() = std::move(front_end);
  endpoint_ = 0;
  time_per_address_ = time_for_one(search_limit, count_addresses(path_));
  if (path_.size() == 1) {
    accepted_ = true;
    return;
  }
  target_ = path_.size() - 1;
  front_end_link_ = std::move(link_);
  connect();
  search();
  give_up_in_any_case_ = clock::now() + first_welcome_limit;
}

}  // namespace mpiacq::agents
