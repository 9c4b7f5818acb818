// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "host/helper_process.hpp"

#include <array>
#include <utility>

#include "errors/try.hpp"
#include "separate/queue_messages.hpp"

namespace mpiacq::mqd_host {

result<helper_process> helper_process::start(const std::string& program, int library,
                                             const std::optional<base::helper_user>& user) {
  auto area = TRY(shared_memory::create());
  auto helper = TRY(base::start_library_helper(
      {"mqd-host", "the process of a queue library", "the program that queue libraries run in"}, program,
      std::array{area.descriptor(), library}, user));
  return helper_process(std::move(area), std::move(helper));
}

}  // namespace mpiacq::mqd_host
