// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "host/separate_host.hpp"

#include <array>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "host/conversation.hpp"
#include "library/printable_text.hpp"
#include "library/target_answers.hpp"

namespace mpiacq::mqd_host {

namespace {

constexpr gid_t nogroup = 65534;

/// The user that the process becomes; empty if it keeps the tool's user.
std::optional<helper_user> user_to_become(const std::optional<std::uint32_t>& owner) {
  if (!owner || ::geteuid() != 0 || *owner == 0) return std::nullopt;
  std::array<char, 16384> room{};
  passwd entry{};
  passwd* found = nullptr;
  const bool known = ::getpwuid_r(*owner, &entry, room.data(), room.size(), &found) == 0 && found != nullptr;
  return helper_user{*owner, known ? entry.pw_gid : nogroup};
}

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
  const auto user = user_to_become(options.owner);
  auto library = TRY(open_library(library_path, user ? user->user : ::geteuid(), options.trust_library));
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
