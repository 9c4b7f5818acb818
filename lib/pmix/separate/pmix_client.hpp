// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "separate/pmix_library.hpp"
#include "separate/pmix_messages.hpp"

namespace mpiacq::pmix {

/// The socket to the tool. Threads: any; the library calls back on threads of its own.
class tool_socket {
 public:
  explicit tool_socket(int socket) : socket_(socket) {}
  void tell(const helper_message& what);

 private:
  int socket_;
  std::mutex mutex_;
};

/// The helper's connection to a PMIx server, through the library. The tool has the clock: it ends this process if a
/// call lasts too long.
class pmix_client {
 public:
  pmix_client(const pmix_library& library, tool_socket& tool) : library_(library), tool_(tool) {}

  /// Error: unsupported (the server's version is another one than the library's: nothing is sent to it); system (the
  /// library refuses, with its reason).
  [[nodiscard]] result<connected> connect(const begin_message& begin);
  /// Tells the namespaces with their rows, and the events from now on if they are asked for.
  [[nodiscard]] result<void> tell_job(const ask_job& how);
  [[nodiscard]] result<void> release(const std::string& nspace);
  /// Returns when the server has started the daemons, with their namespace in `nspace`.
  [[nodiscard]] result<void> launch(const launch_daemons& what, std::string& nspace);
  void disconnect() { (void)library_.tool_finalize(); }

 private:
  [[nodiscard]] result<std::vector<std::string>> namespaces() const;
  [[nodiscard]] result<void> tell_tables();
  [[nodiscard]] std::optional<process_name> parent_of(const std::string& nspace) const;
  [[nodiscard]] result<void> tell_table(const std::string& nspace, std::optional<process_name> parent);
  [[nodiscard]] error refused(const char* what, abi::status status) const;

  const pmix_library& library_;
  tool_socket& tool_;
  std::string own_namespace_;
};

}  // namespace mpiacq::pmix
