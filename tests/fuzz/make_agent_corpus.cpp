// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Seeds for the fuzzer: make_agent_corpus FOLDER writes one message of each kind into it.
#include <cstdio>
#include <fstream>
#include <string>

#include "sample_messages.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int number = 0;
  for (const auto& what : mpiacq::test::sample_messages()) {
    const auto bytes = mpiacq::agents::encode(what);
    std::ofstream file(std::string(argv[1]) + "/message_" + std::to_string(number++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file) return 1;
  }
  return 0;
}
