// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/reported_table.hpp"

#include "fake_parts.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

std::shared_ptr<const process_table> table_of(const std::vector<table_row>& rows, std::optional<user_id> user) {
  process_table made = make_process_table(rows, {}, {});
  made.belongs_to(user);
  return std::make_shared<const process_table>(std::move(made));
}

}  // namespace

TEST_CASE("reported table: entries are local by the names of this host, and none is before the first table") {
  job_event_queue events;
  reported_table table(events, local_host("node7", {"10.1.2.3"}));
  CHECK(table.processes() == nullptr);
  CHECK_FALSE(table.is_local(entry_index{0}));
  const process_id gone{4194304};
  table.take(table_of({{"node7.cluster", "/app", gone}, {"node8", "/app", gone}, {"10.1.2.3", "/app", gone}}, {}));
  CHECK(table.is_local(entry_index{0}));
  CHECK_FALSE(table.is_local(entry_index{1}));
  CHECK(table.is_local(entry_index{2}));
  CHECK_FALSE(table.is_local(entry_index{3}));
  table.take(table_of({{"node8", "/app", gone}}, {}));
  CHECK_FALSE(table.is_local(entry_index{0}));
  CHECK_FALSE(table.is_local(entry_index{2}));
}

TEST_CASE("reported table: a process of another user than the starter's is noticed once") {
  job_event_queue events;
  reported_table table(events, local_host("node7", {}));
  const process_id self{::getpid()};
  const user_id us{::geteuid()}, others{::geteuid() + 1};
  table.take(table_of({{"node7", "/app", self}}, us));
  CHECK_FALSE(table.is_other_users(self));
  CHECK_FALSE(events.has_events());
  const auto of_another_user = table_of({{"node7", "/app", self}}, others);
  table.take(of_another_user);
  CHECK(table.is_other_users(self));
  CHECK(take_notices(events).size() == 1);
  table.take(of_another_user);
  CHECK_FALSE(events.has_events());
  // A table without a user says nothing about the users of its processes.
  table.take(table_of({{"node7", "/app", self}}, {}));
  CHECK_FALSE(table.is_other_users(self));
}
