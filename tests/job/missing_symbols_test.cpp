// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "starter/missing_symbols.hpp"

#include "catch.hpp"
#include "fake_target.hpp"

using namespace mpiacq;

TEST_CASE("the sentence about missing symbols names the symbols, the module, its build id, and a remedy") {
  auto program = std::make_shared<module>();
  program->path = "/opt/bin/mpiexec";
  program->build_id = {std::byte{0xab}, std::byte{0x01}};
  auto library = std::make_shared<module>();
  const std::vector<std::shared_ptr<const module>> modules = {program, library};

  const auto stripped = missing_symbols_sentence({}, modules, true);
  REQUIRE(stripped.has_value());
  for (const char* part : {"/opt/bin/mpiexec", "build id ab01", "MPIR_Breakpoint", "MPIR_proctable", "1 library",
                           "stripped", "debug symbols"}) {
    CHECK_THAT(*stripped, ContainsSubstring(part));
  }
  CHECK_THAT(missing_symbols_sentence({}, modules, false).value(), ContainsSubstring("no MPIR starter"));

  test::fake_starter starter(abi_of_elf(2, 1, 62));
  starter.define_interface();
  const auto complete = mpir::find_symbols(starter.symbols);
  REQUIRE(complete.has_value());
  CHECK_FALSE(missing_symbols_sentence(*complete, modules, true).has_value());
}
