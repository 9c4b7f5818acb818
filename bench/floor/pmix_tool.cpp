// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The smallest tool that has the process table of a PMIx job: it connects, asks once, and disconnects.
//   pmix_tool LIBPMIX URI NAMESPACE RANKS
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>

#include <dlfcn.h>

#include "separate/pmix_abi.hpp"

using namespace mpiacq::pmix;

namespace {

void must_be(bool done, const char* what) {
  if (done) return;
  std::fprintf(stderr, "pmix_tool: %s failed\n", what);
  std::exit(1);
}

template <class Function>
Function* function(void* library, const char* name) {
  auto* const found = reinterpret_cast<Function*>(::dlsym(library, name));
  must_be(found != nullptr, name);
  return found;
}

void set_text(abi::info& one, const char* key, char* text) {
  std::strncpy(one.key, key, abi::longest_key);
  one.value.type = abi::data_type::string;
  one.value.data.text = text;
}

std::promise<std::size_t> rows;

void on_table(abi::status status, abi::info* results, std::size_t count, void*, abi::release_function release,
              void* to_release) {
  const bool has_table = status == abi::success && count == 1 && results->value.type == abi::data_type::data_array;
  rows.set_value(has_table ? results->value.data.array->size : 0);
  if (release != nullptr) release(to_release);
}

}  // namespace

int main(int argc, char** argv) {
  must_be(argc == 5, "reading the command line");
  void* const library = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  must_be(library != nullptr, "dlopen");
  abi::info where{};
  set_text(where, abi::server_uri, argv[2]);
  abi::proc own{};
  must_be(function<abi::tool_init>(library, "PMIx_tool_init")(&own, &where, 1) == abi::success, "PMIx_tool_init");
  char key[abi::longest_key + 1] = {};
  std::strncpy(key, abi::query_table, abi::longest_key);
  char* keys[] = {key, nullptr};
  abi::info of{};
  set_text(of, abi::name_space, argv[3]);
  abi::query query{keys, &of, 1};
  auto* const ask = function<abi::query_info_nb>(library, "PMIx_Query_info_nb");
  must_be(ask(&query, 1, on_table, nullptr) == abi::success, "PMIx_Query_info_nb");
  must_be(rows.get_future().get() == std::strtoull(argv[4], nullptr, 10), "the process table");
  must_be(function<abi::tool_finalize>(library, "PMIx_tool_finalize")() == abi::success, "PMIx_tool_finalize");
  return 0;
}
