// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/queues/queue_host.hpp"

#include <utility>

#include "helper/library_file.hpp"
#include "host/in_process_host.hpp"
#include "host/separate_host.hpp"

namespace mpiacq {

/// One of the two hosts, as `queue_isolation` chose.
struct queue_host::state {
  std::unique_ptr<mqd_host::in_process_host> here;
  std::unique_ptr<mqd_host::separate_host> apart;
};

queue_host::queue_host(std::unique_ptr<state> s) : state_(std::move(s)) {}
queue_host::~queue_host() = default;

result<std::unique_ptr<queue_host>> queue_host::create(const std::string& library_path,
                                                       const queue_host_options& options) {
  auto made = std::make_unique<state>();
  if (options.isolation == queue_isolation::in_process) {
    auto here = mqd_host::in_process_host::create(library_path, options);
    if (!here) return fail(std::move(here.error()));
    made->here = std::move(*here);
  } else {
    auto apart = mqd_host::separate_host::create(library_path, options);
    if (!apart) return fail(std::move(apart.error()));
    made->apart = std::move(*apart);
  }
  return std::unique_ptr<queue_host>(new queue_host(std::move(made)));
}

result<queue_report> queue_host::read(const queue_subject& subject) {
  return state_->here ? state_->here->read(subject) : state_->apart->read(subject);
}

result<void> queue_library_trust(const std::string& path, std::uint32_t user) {
  return base::check_trust(path, user);
}

}  // namespace mpiacq
