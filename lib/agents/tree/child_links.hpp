// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A parent's connections to its children: it asks them, merges their answers, and notices lost ones.
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
  explicit child_links(listener& connections) : listener_(connections) {}

  /// Called with the greeting of an agent that has no number yet. Only the front end sets it: an inner agent accepts
  /// only agents with a number.
  std::function<void(const peer_name&, const hello&)> newcomer = {};
  /// Called with the length of each message.
  std::function<void(std::size_t)> received = {};

  /// Handles the messages that have arrived, and sends heartbeats when they are due: twice a second while an answer is
  /// owed, otherwise once a second. `beat` is called now and then while a long message is decoded; it may call
  /// `show_alive`.
  void turn(const pulse& beat = {});
  /// Sends each child a heartbeat that needs no reply: this process has no time to read replies.
  void show_alive();
  /// Makes this peer a child, welcomes it, and sends it the open question.
  void adopt(const peer_name& peer, std::uint32_t number);
  /// Sends the question to all children. Answers to an older question are no longer expected.
  void put(const ask& what);
  /// Asks the children to answer the open question with their results so far.
  void finish_now();
  /// The progress of all children with the open question.
  [[nodiscard]] heartbeat progress() const;
  /// Whether no child owes an answer: a lost child owes none.
  [[nodiscard]] bool all_answered() const;
  /// The answer to the open question. It contains the children's answers; the caller may add others.
  [[nodiscard]] reducer& open() { return open_; }
  [[nodiscard]] const reducer& open() const { return open_; }
  /// Ends all children.
  void say_goodbye();
  [[nodiscard]] bool has(std::uint32_t number) const;
  [[nodiscard]] std::size_t size() const { return children_.size(); }
  /// When the next heartbeat is due. `no_deadline` without children.
  [[nodiscard]] deadline next_turn() const { return children_.empty() ? no_deadline : next_heartbeat_; }

 private:
  struct child {
    std::uint32_t number = 0;
    bool owes_answer = false;
    std::uint32_t unanswered = 0;  ///< heartbeats since its last message, while it owed an answer
    heartbeat progress = {};
  };
  void take(arrival&& come);
  void take_answer(child& from, answer&& part);
  void send_heartbeats();
  [[nodiscard]] bool waits() const { return clock::now() < answer_by_ && !all_answered(); }
  void report_lost(std::uint32_t agent, error why);
  /// The open question with the time that is left for it; empty if there is none or its time is over.
  [[nodiscard]] std::optional<ask> open_question() const;

  listener& listener_;
  std::map<peer_name, child> children_;
  std::optional<ask> asked_;
  deadline answer_by_{};
  reducer open_;
  deadline next_heartbeat_{};
};

}  // namespace mpiacq::agents
