// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "catch.hpp"
#include "mpiacq/job/job.hpp"
#include "patience.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

/// An MPI2DD fixture job that is launched by the library, let go on after each of its events, and followed to its end.
class followed_job {
 public:
  explicit followed_job(std::vector<std::string> words, job_options options = {}) {
    ::setenv("MPIACQ_ORACLE", folder_.path("oracle").c_str(), 1);
    words.front() = MPIACQ_MPI2DD "/" + words.front();
    auto launched = job::launch(std::move(words), std::move(options));
    ::unsetenv("MPIACQ_ORACLE");
    REQUIRE(launched.has_value());
    subject_ = std::move(*launched);
  }

  /// What is done at START, before the job goes on.
  void at_start(std::function<void()> what) { at_start_ = std::move(what); }

  /// The same at each event, and right after each.
  void at_each_event(std::function<void()> what) { at_each_event_ = std::move(what); }
  void after_each_resume(std::function<void()> what) { after_each_resume_ = std::move(what); }

  void run() {
    while (!end_) take(next());
  }

  [[nodiscard]] job& subject() { return *subject_; }
  [[nodiscard]] const mpir::job_facts& facts() const { return subject_->facts(); }
  [[nodiscard]] const std::optional<exit_status>& end() const { return end_; }
  [[nodiscard]] pid_t starter() const { return static_cast<pid_t>(subject_->starter().pid.value()); }
  [[nodiscard]] const std::vector<std::string>& notices() const { return notices_; }
  [[nodiscard]] const std::vector<std::string>& reasons() const { return reasons_; }

  /// "START" and so on, with who raised it.
  [[nodiscard]] const std::vector<std::pair<std::string, pid_t>>& reported_events() const { return events_; }
  [[nodiscard]] std::vector<std::pair<std::string, pid_t>> written_events() const {
    std::vector<std::pair<std::string, pid_t>> all;
    std::istringstream lines(file_contents(folder_.path("oracle")));
    for (std::string key, rest; lines >> key && std::getline(lines, rest);) {
      if (key.starts_with("event.")) all.emplace_back(key.substr(6), std::atoi(rest.c_str()));
    }
    return all;
  }
  [[nodiscard]] std::ptrdiff_t count(mpi2dd::debug_state state) const {
    const std::string wanted = short_name(state);
    return std::count_if(events_.begin(), events_.end(), [&](const auto& e) { return e.first == wanted; });
  }

  [[nodiscard]] std::map<std::string, std::string> oracle() const { return read_oracle(folder_.path("oracle")); }
  [[nodiscard]] std::string said(const std::string& key) const {
    const auto all = oracle();
    const auto found = all.find(key);
    return found == all.end() ? "(nothing)" : found->second;
  }

  /// The world that a rank spawned as its N-th.
  [[nodiscard]] std::string spawned_world(const std::string& world, int rank, int number) const {
    char host[256] = {};
    (void)::gethostname(host, sizeof host - 1);
    return std::string{host} + "." + said("rank." + world + "." + std::to_string(rank) + ".pid") + "." +
           std::to_string(number);
  }

  /// Whether the table once had this process as what the oracle calls it: "rank.WORLD.NUMBER.pid".
  [[nodiscard]] bool saw_rank(const std::string& key, pid_t pid) const { return ranks_.contains({key, pid}); }
  /// "world.ID.spawned_by", "PARENT RANK SEQUENCE"
  [[nodiscard]] bool saw_spawn(const std::string& key, const std::string& by) const {
    return spawns_.contains({key, by});
  }

 private:
  static std::string short_name(mpi2dd::debug_state state) {
    return std::string(mpi2dd::name(state)).substr(std::string("MPI2DD_DEBUG_").size());
  }

  job_event next() {
    auto event = subject_->next(clock::now() + patience);
    REQUIRE(event.has_value());
    REQUIRE(event->has_value());
    return std::move(**event);
  }

  void take(const job_event& event) {
    if (const auto* spawned = std::get_if<job_spawned>(&event)) {
      take(spawned->change);
    } else if (const auto* changed = std::get_if<job_changed>(&event)) {
      take(changed->change);
    } else if (const auto* aborts = std::get_if<job_aborting>(&event)) {
      reasons_.push_back(aborts->reason.value_or("(none)"));
      take(aborts->change);
    } else if (const auto* notice = std::get_if<job_notice>(&event)) {
      notices_.push_back(notice->what.message);
    } else if (const auto* ended = std::get_if<starter_ended>(&event)) {
      end_ = ended->status;
    }
  }

  void take(const std::optional<job_change>& change) {
    REQUIRE(change.has_value());
    events_.emplace_back(short_name(change->state), static_cast<pid_t>(change->raised_by.value()));
    // Whoever raised it stands still until it is let go on.
    CHECK(process_state(events_.back().second) == 't');
    note_table();
    if (change->state == mpi2dd::debug_state::start && at_start_) at_start_();
    if (at_each_event_) at_each_event_();
    CHECK(subject_->resume().has_value());
    if (after_each_resume_) after_each_resume_();
  }

  void note_table() {
    const auto table = subject_->processes();
    REQUIRE(table != nullptr);
    for (std::size_t i = 0; i < table->size(); ++i) {
      const std::uint32_t world = table->names().world(entry_index{i});
      REQUIRE(world < table->worlds().size());
      ranks_.emplace("rank." + table->worlds()[world].id + "." +
                         std::to_string(table->names().rank(entry_index{i}).value()) + ".pid",
                     static_cast<pid_t>(table->pid(entry_index{i}).value()));
    }
    for (const job_world& world : table->worlds()) {
      if (!world.spawned_by) continue;
      spawns_.emplace("world." + world.id + ".spawned_by", world.spawned_by->world + " " +
                                                               std::to_string(world.spawned_by->rank.value()) + " " +
                                                               std::to_string(world.spawned_by->sequence));
    }
  }

  scratch_folder folder_;
  std::unique_ptr<job> subject_;
  std::function<void()> at_start_, at_each_event_, after_each_resume_;
  std::vector<std::pair<std::string, pid_t>> events_;
  std::vector<std::string> notices_, reasons_;
  std::set<std::pair<std::string, pid_t>> ranks_;
  std::set<std::pair<std::string, std::string>> spawns_;
  std::optional<exit_status> end_;
};

}  // namespace mpiacq::test
