// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "running_target.hpp"

#include <utility>

#include "errors/try.hpp"

namespace mpiacq {

result<std::unique_ptr<running_target>> running_target::open(process_id pid, const debug_file_search& search,
                                                             std::optional<user_id> user) {
  std::unique_ptr<running_target> opened(new running_target(pid, user));
  opened->symbols_ = TRY(process_symbols::open(pid, opened->cache_, search));
  return opened;
}

}  // namespace mpiacq
