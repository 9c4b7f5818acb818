// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/message_queues.hpp"

namespace mpiacq {

std::string_view name(queue_class c) {
  switch (c) {
    case queue_class::sends:
      return "sends";
    case queue_class::receives:
      return "receives";
    case queue_class::unexpected:
      return "unexpected";
  }
  return "";
}

std::string_view name(operation_status status) {
  switch (status) {
    case operation_status::pending:
      return "pending";
    case operation_status::matched:
      return "matched";
    case operation_status::complete:
      return "complete";
  }
  return "";
}

std::string_view name(queue_knowledge k) {
  switch (k) {
    case queue_knowledge::complete:
      return "complete";
    case queue_knowledge::cut_short:
      return "cut-short";
    case queue_knowledge::none:
      return "none";
    case queue_knowledge::failed:
      return "failed";
  }
  return "";
}

std::string_view name(length_unit unit) {
  switch (unit) {
    case length_unit::bytes:
      return "bytes";
    case length_unit::elements:
      return "elements";
    case length_unit::unknown:
      return "unknown";
  }
  return "";
}

}  // namespace mpiacq
