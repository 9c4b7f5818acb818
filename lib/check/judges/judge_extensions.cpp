// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Chapter 7, and the symbols that have no more to them than their presence.
#include <algorithm>
#include <array>

#include "judges/judges.hpp"
#include "judges/judging.hpp"

namespace mpiacq::check::judges {

namespace {

using mpir::known;

finding only_its_presence(const observations& o, known flag, std::string_view what_it_asks) {
  if (!o.defined.has(flag)) return not_applicable("not defined, and it need not be");
  return passed("defined in {}: {}", o.defined[flag]->module, what_it_asks);
}

bool usable(const fifo_seen& fifo) {
  return fifo.exists && fifo.is_fifo;
}

constexpr std::string_view no_fifo = "no FIFO is named";
constexpr std::string_view not_usable = "what is named is no FIFO (9.17b)";

}  // namespace

finding daemon_variables_together(const observations& o) {
  const bool path = o.defined.has(known::executable_path);
  const bool arguments = o.defined.has(known::server_arguments);
  if (!path && !arguments) return not_applicable("not defined, and they need not be");
  if (path && arguments) return passed("both are defined");
  return failed("{} is defined without {}", name_of(path ? known::executable_path : known::server_arguments),
                name_of(path ? known::server_arguments : known::executable_path));
}

finding daemons_launched(const observations& o) {
  if (!o.daemon) return not_applicable("no daemon was asked for");
  if (o.spawn() == nullptr) return not_applicable("{}", no_spawn_event);
  if (o.daemon->running == 0) return failed("no process of this node has run {}", o.daemon->path);
  if (o.daemon->with_arguments == 0) return failed("{} ran, and not with the arguments given", o.daemon->path);
  return passed("{} of them ran on this node, with the arguments given", o.daemon->with_arguments);
}

finding fifo_waited_on(const observations& o) {
  if (!o.fifo) return not_applicable("{}", no_fifo);
  if (!usable(*o.fifo)) return not_applicable("{}", not_usable);
  if (!o.fifo->waited_on) return not_applicable("what the starter has open could not be seen");
  if (!*o.fifo->waited_on)
    return failed("the starter does not have {} open, and no thread of it opens it", o.fifo->path);
  return passed("the starter has {} open", o.fifo->path);
}

finding fifo_removed(const observations& o) {
  if (!o.fifo) return not_applicable("{}", no_fifo);
  if (!usable(*o.fifo)) return not_applicable("{}", not_usable);
  if (!o.fifo->left_behind) return not_applicable("the starter had not ended when we stopped looking");
  if (*o.fifo->left_behind) return failed("{} is still there after the starter's end", o.fifo->path);
  return passed("gone after the starter's end");
}

finding force_to_main(const observations& o) {
  return only_its_presence(o, known::force_to_main, "a tool shows the source of main");
}

finding ignore_queues(const observations& o) {
  return only_its_presence(o, known::ignore_queues, "a tool shows no message queues");
}

finding fifo_usable(const observations& o) {
  if (!o.defined.has(known::attach_fifo)) return not_applicable("not defined, and it need not be");
  if (!o.fifo) return not_applicable("it was empty: the starter offers no FIFO in this run");
  const fifo_seen& fifo = *o.fifo;
  if (!fifo.exists) return failed("{}: there is no such file", fifo.path);
  if (!fifo.is_fifo) return failed("{} is no FIFO", fifo.path);
  if (!fifo.owned_by_starters_owner) return failed("{} does not belong to the starter's owner", fifo.path);
  if (!fifo.writable_by_owner) return failed("its owner may not write {}", fifo.path);
  return passed("{}, owned and writable by the starter's owner", fifo.path);
}

finding mpi2dd(const observations& o) {
  constexpr std::array<std::uint8_t, 7> begins = {'M', 'P', 'I', '2', 0x7f, 1, 1};
  if (!o.defined.mpi2dd) return not_applicable("MPI2DD_info is not defined");
  const auto& bytes = *o.defined.mpi2dd;
  if (bytes.size() < begins.size()) return failed("MPI2DD_info cannot be read");
  if (!std::equal(begins.begin(), begins.begin() + 5, bytes.begin())) return failed("its magic bytes are wrong");
  if (bytes[5] != begins[5] || bytes[6] != begins[6]) {
    return failed("version {}, variant {}: the draft has 1 and 1", bytes[5], bytes[6]);
  }
  return passed("magic bytes, version 1, variant 1");
}

}  // namespace mpiacq::check::judges
