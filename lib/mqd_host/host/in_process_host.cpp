// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "host/in_process_host.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "library/library_session.hpp"
#include "library/target_answers.hpp"

namespace mpiacq::mqd_host {

result<std::unique_ptr<in_process_host>> in_process_host::create(const std::string& library_path,
                                                                 const queue_host_options& options) {
  auto file = TRY(base::open_library(library_path, ::geteuid(), options.trust_library, {}, options.root));
  return std::unique_ptr<in_process_host>(new in_process_host(std::move(file), options.limits));
}

result<void> in_process_host::load(report_sink& sink) {
  if (library_) return {};
  // The descriptor's path in /proc cannot be used: dlopen takes a path that it knows for the library that it loaded
  // then, and descriptor numbers are reused. The file's real path, with all links followed, was checked just before.
  std::error_code failed;
  const auto path = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", file_.file.get()), failed);
  if (failed) return fail(error(error_code::system, "finding the name of " + file_.path).with_errno(failed.value()));
  auto loaded = TRY(queue_library::load(path.string(), file_.path, sink));
  library_ = std::move(loaded);
  return {};
}

result<queue_report> in_process_host::read(const queue_subject& subject) {
  report_builder builder(file_.path);
  if (auto loaded = load(builder); !loaded) return fail(std::move(loaded.error()));
  if (!file_.warning.empty()) builder.note(std::string(file_.warning));
  target_answers answers(subject);
  const session_facts facts{subject.identity, subject.image};
  return builder.finish(run_session(*library_, answers, facts, limits_, builder));
}

}  // namespace mpiacq::mqd_host
