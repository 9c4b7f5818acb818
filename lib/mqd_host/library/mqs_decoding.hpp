// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a library filled in, as values. Everything that real libraries get wrong in them is put right here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "library/filled_area.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq::mqd_host {

/// A communicator, without group and queues. bad_format: the library said ok and filled in nothing, or nonsense.
[[nodiscard]] result<queue_communicator> decode_communicator(const filled_area& from);

/// The first `size` ranks of a group. What the library left alone cannot be placed: -1.
[[nodiscard]] std::vector<std::int64_t> decode_group(const filled_area& from, std::size_t size);

/// Whether the library's operations have a field more after `buffer` than the headers say.
[[nodiscard]] bool is_longer_operation(const filled_area& from, queue_class which);

/// An operation of a queue of `of`, whose group gives ranks their other number. bad_format as above.
[[nodiscard]] result<queue_operation> decode_operation(const filled_area& from, queue_class which, bool longer,
                                                       const queue_communicator& of);

/// A process that the library names as new.
[[nodiscard]] result<new_process> decode_new_process(const filled_area& from);

}  // namespace mpiacq::mqd_host
