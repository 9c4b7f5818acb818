// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the source pmix reads. The first byte chooses: 0, the stream of frames from the helper process; 1, a rendezvous
// file; 2, a memory map; 3, the environment of a rank; 4, a list of namespaces as the library gives it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "framing/frames.hpp"
#include "framing/wire.hpp"
#include "host/pmix_session.hpp"
#include "separate/pmix_decoding.hpp"
#include "server/rendezvous_file.hpp"
#include "server/version_text.hpp"

using namespace mpiacq;
using namespace mpiacq::pmix;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_answer(const pmix_answer& answer, const session_limits& limits) {
  check(answer.worlds.size() <= most_namespaces && answer.problems.size() <= limits.most_problems);
  std::size_t ranks = 0;
  for (const pmix_world& world : answer.worlds) {
    check(!world.ranks.empty() && world.nspace.size() <= abi::longest_namespace);
    ranks += world.ranks.size();
    std::int64_t before = -1;
    for (const process_row& row : world.ranks) {
      check(row.rank > before && row.rank <= INT32_MAX);
      before = row.rank;
    }
  }
  check(ranks <= limits.most_ranks);
}

void read_frames(std::span<const std::byte> stream) {
  session_limits limits;
  limits.most_ranks = 1000;
  base::frame_splitter frames(longest_message);
  answer_builder builder(limits);
  constexpr std::size_t most_at_once = 97;
  while (!stream.empty() && !frames.broken()) {
    const auto some = stream.first(std::min(stream.size(), most_at_once));
    std::copy(some.begin(), some.end(), frames.room(some.size()).begin());
    frames.came(some.size());
    stream = stream.subspan(some.size());
    while (const auto frame = frames.next()) {
      auto what = base::decode<helper_message>(*frame);
      if (!what) return;
      // What is taken can be sent again.
      check(base::decode<helper_message>(base::encode(*what)).has_value());
      if (!builder.take(std::move(*what))) return;
    }
  }
  check_answer(std::move(builder).finish(), limits);
}

void read_namespaces(std::string text) {
  abi::info one{};
  set_text(one, abi::query_namespaces, text);
  const auto names = namespaces_in({&one, 1});
  if (!names) return;
  check(names->size() <= most_namespaces);
  for (const std::string& name : *names) {
    check(!name.empty() && name.size() <= abi::longest_namespace && name.find(',') == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0:
      read_frames({reinterpret_cast<const std::byte*>(data) + 1, size - 1});
      break;
    case 1:
      if (const auto found = parse_rendezvous(text)) check(is_pmix_uri(found->uri) && found->pid.value() > 0);
      check(version_in(text).size() <= 32);
      break;
    case 2:
      if (const auto found = pmix_library_in(text)) check(found->path.starts_with('/'));
      break;
    case 3:
      if (const auto found = server_in_environment(text); !found.uri.empty()) check(is_pmix_uri(found.uri));
      break;
    default:
      read_namespaces(std::string(text));
  }
  return 0;
}
