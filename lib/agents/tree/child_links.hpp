// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The agents that answer to one: who they are, what they were asked, what came back.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/process/tracer.hpp"
#include "tree/listener.hpp"
#include "tree/reducer.hpp"

namespace mpiacq::agents {

class child_links {
 public:
  explicit child_links(listener& door) : zap_handler_(door) {}

  /// Called with the greeting of one that has no number yet; an inner agent lets nobody in so.
  std::function<void(const peer_name&, const hello&)> newcomer = {};
  /// Called with each message's length.
  std::function<void(std::size_t)> received = {};

  /// Takes what has come: greetings, answers, losses. Looks after the children, twice a second while it waits for any.
  void turn();
  /// This one is a child from now on. It is welcomed, and asked what is open.
  void adopt(const peer_name& peer, std::uint32_t number);
  /// Asks all children. What is still missing of an older question is dropped.
  void put(const ask& what);
  /// What there is of the answers by now will do.
  void hurry();
  /// How far those below are with what was asked.
  [[nodiscard]] alive progress() const;
  /// All that were asked have answered, or are gone.
  [[nodiscard]] bool all_answered() const;
  /// The answers: those of the children are in it, others may be added.
  [[nodiscard]] reducer& open() { return open_; }
  void say_farewell();
  /// This one is a child now.
  [[nodiscard]] bool has(std::uint32_t number) const;
  [[nodiscard]] std::size_t size() const { return children_.size(); }
  /// When `turn` wants to be called again, though nothing has come: never where nobody is there to look after.
  [[nodiscard]] deadline next_turn() const { return children_.empty() ? no_deadline : next_look_; }

 private:
  struct child {
    std::uint32_t number = 0;
    bool waited_for = false;
    std::uint32_t unheard = 0;  ///< looks since it has said something, of those in which it owed an answer
    alive progress = {};        ///< with what was asked
  };
  void take(arrival&& come);
  void look();
  [[nodiscard]] bool waits() const { return clock::now() < asked_until_ && !all_answered(); }
  void lose(const child& lost, error why);
  [[nodiscard]] std::optional<ask> question_now() const;

  listener& zap_handler_;
  std::map<peer_name, child> children_;
  std::optional<ask> asked_;
  deadline asked_until_{};
  reducer open_;
  deadline next_look_{};
};

}  // namespace mpiacq::agents
