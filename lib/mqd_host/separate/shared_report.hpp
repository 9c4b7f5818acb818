// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/tool_link.hpp"
#include "library/report_sink.hpp"
#include "separate/queue_messages.hpp"
#include "separate/shared_area.hpp"

namespace mpiacq::mqd_host {

/// Writes a library's results into the shared memory, where they survive this process.
class shared_report : public report_sink {
 public:
  shared_report(const tool_link& tool, shared_area& area) : tool_(tool), area_(area) {}

  void calling(entry_point entry) override;
  void library(library_facts&& facts) override { put(std::move(facts)); }
  void has_queues() override { put(has_queues_record{}); }
  void communicator(queue_communicator&& c) override;
  void queue_begins(queue_class which) override { put(queue_begins_record{which}); }
  void operation(queue_operation&& op) override { put(std::move(op)); }
  void queue_ends(queue_class which, queue_knowledge known) override { put(queue_ends_record{which, known}); }
  void spawn_breakpoint(std::string&& function) override { put(spawn_breakpoint_record{std::move(function)}); }
  void process(new_process&& p) override { put(std::move(p)); }
  void missing(missing_type&& m) override { put(std::move(m)); }
  void note(std::string&& text) override;
  void problem(error&& e) override;

 private:
  void put(record&& what);

  const tool_link& tool_;
  shared_area& area_;
};

}  // namespace mpiacq::mqd_host
