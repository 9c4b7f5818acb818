// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "starter/starter_sight.hpp"

#include "container_table.hpp"
#include "errors/try.hpp"
#include "starter/missing_symbols.hpp"

namespace mpiacq {

result<starter_sight> look_at_starter(const process_facts& process, const debug_file_search& search) {
  starter_sight seen;
  seen.target = TRY(running_target::open(process.pid(), search, process.user()));
  // Without a writer the acquisition asks for nothing: it reports what is there.
  mpir::acquisition eye;
  TRY(eye.at_attach(seen.target->remembered()));
  seen.has_interface = eye.symbols() != nullptr && eye.symbols()->complete();
  if (eye.table() && !eye.table()->empty()) seen.table = seen_from_here(eye.table(), process);
  seen.facts = eye.facts();
  if (eye.symbols() != nullptr) seen.symbols = *eye.symbols();
  return seen;
}

std::string starter_sight::lacks() const {
  if (!symbols) return {};
  process_symbols& searched = target->symbols();
  return missing_symbols_sentence(*symbols, searched.modules(), searched.executable_is_stripped()).value_or("");
}

}  // namespace mpiacq
