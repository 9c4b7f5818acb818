// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Seeds for queue_requests and queue_answers: one good conversation of each kind, and some of its parts.
//
//   make_queue_corpus CORPUS_FOLDER      the folder that holds queue_requests/ and queue_answers/
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "framing/frames.hpp"
#include "separate/queue_messages.hpp"

using namespace mpiacq;
using namespace mpiacq::base;
using namespace mpiacq::mqd_host;

namespace {

using bytes = std::vector<std::byte>;

template <class T>
bytes framed(std::initializer_list<T> all) {
  bytes stream;
  for (const T& one : all) {
    const auto frame = as_frame(encode(one));
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  return stream;
}

void write(const std::filesystem::path& folder, const char* name, char kind, const bytes& what) {
  std::filesystem::create_directories(folder);
  std::ofstream file(folder / name, std::ios::binary);
  file.put(kind);
  file.write(reinterpret_cast<const char*>(what.data()), static_cast<std::streamsize>(what.size()));
}

bytes some_records() {
  queue_operation receive;
  receive.desired.any = true;
  receive.actual = queue_operation::message{{false, 1, 2U}, 3, 4};
  receive.extra = {"line"};
  return framed<record>({library_facts{"version", 3, length_unit::bytes}, has_queues_record{},
                         communicator_record{1, "world", 0, 3, 3U}, group_record{{0, 1, 2}},
                         queue_begins_record{queue_class::receives}, receive,
                         queue_ends_record{queue_class::receives, queue_knowledge::complete},
                         spawn_breakpoint_record{"function"}, new_process{process_id{7}, "/bin/worker", "host"},
                         missing_type{"type", "field"}, note_record{"note"}, error{error_code::limit, "too much"}});
}

bytes some_requests() {
  return framed<request>({look_up_request{true, source_language::c, "function"},
                          type_request{source_language::c, "type"}, memory_request{0x10000, 4 * read_page_size},
                          report_request{}, end_message{fail(error_code::bad_format, "no")}});
}

bytes some_answers() {
  bytes all;
  const auto add = [&](const bytes& frame) { all.insert(all.end(), frame.begin(), frame.end()); };
  add(as_frame(encode(type_request::answer{type_facts{16, {{"field", 8}}}})));
  add(as_frame(encode(look_up_request::answer{0x1234})));
  add(as_frame(encode(look_up_request::answer{})));
  add(as_frame(encode(memory_request::answer{4 * read_page_size})));
  add(as_frame(encode(memory_request::answer{100})));
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_queue_corpus CORPUS_FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  write(folder / "queue_requests", "records", 'r', some_records());
  write(folder / "queue_requests", "requests", 's', some_requests());
  write(folder / "queue_answers", "answers", 'a', some_answers());
  write(folder / "queue_answers", "begin", 'b',
        encode(begin_message{"0.1.0", "/lib.so", target_abi{}, {1, "program"}, queue_limits{}}));
  return 0;
}
