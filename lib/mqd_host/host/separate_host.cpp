// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "host/separate_host.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "host/conversation.hpp"
#include "library/printable_text.hpp"
#include "library/target_answers.hpp"

namespace mpiacq::mqd_host {

namespace {

void add_output(report_sink& into, const conversation& talk) {
  if (talk.output().empty()) return;
  constexpr std::size_t all = SIZE_MAX;
  std::string note = fmt::format("the queue library printed: {}", printable(talk.output(), all));
  if (talk.output_dropped() != 0) note += fmt::format(" ... and {} bytes more", talk.output_dropped());
  into.note(std::move(note));
}

}  // namespace

result<std::unique_ptr<separate_host>> separate_host::create(const std::string& library_path,
                                                             const queue_host_options& options) {
  const auto user = base::user_to_become(options.owner);
  auto library =
      TRY(base::open_library(library_path, user ? user->user : ::geteuid(), options.trust_library, {}, options.root));
  return std::unique_ptr<separate_host>(new separate_host(std::move(library), options, user));
}

result<queue_report> separate_host::read(const queue_subject& subject) {
  auto process = TRY(helper_process::start(options_.helper, library_.file.get(), user_));
  report_builder builder(library_.path);
  if (!library_.warning.empty()) builder.note(std::string{library_.warning});

  target_answers names(subject);
  answer_server answers(subject, names, options_.limits);
  record_reader reader(builder, options_.limits);
  conversation talk(process, answers, reader, options_.limits, options_.stop);
  auto outcome = talk.run(
      {MPIACQ_VERSION, library_.path, subject.process.abi, {subject.identity, subject.image}, options_.limits});
  add_output(builder, talk);
  if (!outcome && outcome.error().path.empty()) outcome.error().path = library_.path;
  return builder.finish(std::move(outcome));
}

}  // namespace mpiacq::mqd_host
