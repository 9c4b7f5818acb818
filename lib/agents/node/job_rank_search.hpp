// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// An agent's answer to the question for the ranks of a job that the environment shows.
#pragma once

#include <string>
#include <string_view>

#include "wire/agent_messages.hpp"

namespace mpiacq::agents {

/// Bytes of any value as text, and back. What is no such text gives nothing.
[[nodiscard]] std::string to_digits(std::string_view bytes);
[[nodiscard]] std::string from_digits(std::string_view digits);

/// Looks at all processes of this node once.
[[nodiscard]] job_ranks_part answer_to(const ask_job_ranks& what);

}  // namespace mpiacq::agents
