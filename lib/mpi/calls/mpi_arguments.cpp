// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "calls/mpi_arguments.hpp"

#include <optional>
#include <utility>

namespace mpiacq {

namespace {

using role = mpi_role;

std::optional<mpi_handle_kind> handle_kind_of(role meaning) {
  switch (meaning) {
    case role::communicator:
    case role::peer_communicator:
      return mpi_handle_kind::communicator;
    case role::datatype:
    case role::send_type:
    case role::receive_type:
    case role::target_type:
      return mpi_handle_kind::datatype;
    case role::operation:
      return mpi_handle_kind::operation;
    case role::request:
      return mpi_handle_kind::request;
    case role::message:
      return mpi_handle_kind::message;
    case role::window:
      return mpi_handle_kind::window;
    case role::file:
      return mpi_handle_kind::file;
    case role::group:
      return mpi_handle_kind::group;
    case role::info:
      return mpi_handle_kind::info;
    case role::session:
      return mpi_handle_kind::session;
    case role::error_handler:
      return mpi_handle_kind::error_handler;
    default:
      return std::nullopt;
  }
}

bool is_count(role meaning) {
  return meaning == role::count || meaning == role::send_count || meaning == role::receive_count ||
         meaning == role::target_count;
}

/// Partitioned communication has wide counts in every language.
bool has_wide_counts(const mpi_function& function) {
  return function.has_wide_counts ||
         (function.call != nullptr && function.call->parameters.find("partitions") != std::string_view::npos);
}

/// The size of one value, without regard to how it is passed.
std::size_t value_bytes(role meaning, const mpi_function& function, const handle_context& context) {
  if (const auto handle = handle_kind_of(meaning)) return handle_bytes(*handle, context);
  switch (meaning) {
    case role::buffer:
    case role::text:
    case role::status:
    case role::displacement:
    case role::size:
      return context.address_bytes;
    case role::offset:
      return 8;
    default:
      return is_count(meaning) && has_wide_counts(function) ? 8 : 4;
  }
}

bool is_address_itself(const mpi_parameter& parameter) {
  return parameter.passing == mpi_passing::array || parameter.passing == mpi_passing::output ||
         parameter.role == role::buffer || parameter.role == role::text;
}

std::int64_t number_of(std::uint64_t value, std::size_t bytes) {
  return bytes == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

/// A number with a special meaning, and the name of this meaning.
struct special_number {
  std::int32_t value;
  const char* name;
};

/// The special numbers that a parameter with this role may have.
std::vector<special_number> special_numbers(role meaning, bool receives, const mpi_constants& with) {
  switch (meaning) {
    case role::source:
      return {{with.any_source, "MPI_ANY_SOURCE"}, {with.proc_null, "MPI_PROC_NULL"}};
    case role::destination:
    case role::target:
      return {{with.proc_null, "MPI_PROC_NULL"}};
    case role::root:
      return {{with.root, "MPI_ROOT"}, {with.proc_null, "MPI_PROC_NULL"}};
    case role::tag:
    case role::receive_tag:
      if (!receives) return {};
      return {{with.any_tag, "MPI_ANY_TAG"}};
    case role::lock_type:
      return {{with.lock_exclusive, "MPI_LOCK_EXCLUSIVE"}, {with.lock_shared, "MPI_LOCK_SHARED"}};
    case role::color:
      return {{mpi_undefined, "MPI_UNDEFINED"}};
    default:
      return {};
  }
}

/// Whether a parameter with this role may have any number that is not special.
bool may_be_negative(role meaning) {
  return meaning == role::number || meaning == role::key || meaning == role::assertion || meaning == role::displacement;
}

/// Explains the arguments of one call.
class explainer {
 public:
  explainer(const mpi_function& function, const handle_context& context)
      : function_(function),
        context_(context),
        constants_(constants_of(context.abi)),
        receives_(function.call->parameters.find("source") != std::string_view::npos) {}

  [[nodiscard]] mpi_argument explain(const mpi_parameter& parameter, const found_argument& found) const {
    mpi_argument made;
    made.role = parameter.role;
    made.is_known = found.is_known && found.bits >= 8 * bytes_of(parameter);
    made.is_address = is_address_itself(parameter);
    if (!made.is_known) return made;
    if (made.is_address) {
      made.value = static_cast<std::int64_t>(found.value);
    } else if (const auto handle = handle_kind_of(parameter.role)) {
      explain_handle(made, *handle, found.value);
    } else {
      explain_number(made, found.value);
    }
    if (!made.is_known) made.value = 0;
    if (made.is_known) made.source = found.source;
    return made;
  }

 private:
  [[nodiscard]] std::size_t bytes_of(const mpi_parameter& parameter) const {
    if (is_address_itself(parameter)) return context_.address_bytes;
    return value_bytes(parameter.role, function_, context_);
  }

  void explain_handle(mpi_argument& made, mpi_handle_kind kind, std::uint64_t value) const {
    auto meaning = meaning_of_handle(kind, value, context_);
    made.is_known = meaning.is_possible;
    const bool short_handle = handle_bytes(kind, context_) == 4;
    made.value = static_cast<std::int64_t>(short_handle ? value & 0xffffffffU : value);
    made.name = std::move(meaning.name);
  }

  void explain_number(mpi_argument& made, std::uint64_t value) const {
    made.value = number_of(value, value_bytes(made.role, function_, context_));
    made.name = special_name(made);
    if (!made.name.empty()) return;
    made.is_known = made.role != role::lock_type && (made.value >= 0 || may_be_negative(made.role));
  }

  [[nodiscard]] std::string special_name(const mpi_argument& made) const {
    if (constants_ == nullptr) return "";
    for (const special_number& each : special_numbers(made.role, receives_, *constants_)) {
      if (each.value == made.value) return each.name;
    }
    return "";
  }

  const mpi_function& function_;
  const handle_context& context_;
  const mpi_constants* constants_;
  bool receives_;
};

}  // namespace

std::size_t bytes_behind(const mpi_parameter& parameter, const mpi_function& function, const handle_context& context) {
  if (is_address_itself(parameter)) return 0;
  const bool by_address = context.language == mpi_language::fortran || parameter.passing == mpi_passing::address;
  return by_address ? value_bytes(parameter.role, function, context) : 0;
}

std::vector<mpi_argument> explain_arguments(const mpi_function& function, std::span<const found_argument> found,
                                            const handle_context& context) {
  std::vector<mpi_argument> made;
  if (function.call == nullptr) return made;
  const explainer with(function, context);
  const auto parameters = parameters_of(function.call->parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].passing == mpi_passing::output) continue;
    made.push_back(with.explain(parameters[i], i < found.size() ? found[i] : found_argument{}));
  }
  return made;
}

}  // namespace mpiacq
