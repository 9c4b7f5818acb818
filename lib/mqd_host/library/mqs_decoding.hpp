// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Decodes what a library filled in. The known errors of real libraries are corrected here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "library/filled_area.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq::mqd_host {

/// A communicator without its group and queues. bad_format: the library returned ok and wrote nothing, or nonsense.
[[nodiscard]] result<queue_communicator> decode_communicator(const filled_area& from);

/// The first `size` ranks of a group. A rank that the library left untouched is -1.
[[nodiscard]] std::vector<std::int64_t> decode_group(const filled_area& from, std::size_t size);

/// Whether the library's operations have one member more after `buffer` than the headers declare.
[[nodiscard]] bool is_longer_operation(const filled_area& from, queue_class which);

/// An operation of a queue of `of`, whose group gives the peers their numbers in the job. bad_format as above.
[[nodiscard]] result<queue_operation> decode_operation(const filled_area& from, queue_class which, bool longer,
                                                       const queue_communicator& of);

/// A new process that the library names.
[[nodiscard]] result<new_process> decode_new_process(const filled_area& from);

}  // namespace mpiacq::mqd_host
