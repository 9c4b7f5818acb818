// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A debugger with a control loop of its own that uses no more of the library than the interface's state machine and the
// reading of symbols: runs a starter, prints its table, and lets it run to its end.   minidebugger mpirun -n 4 ./app
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <mpiacq/mpir/mpir_acquisition.hpp>
#include <mpiacq/process/process_symbols.hpp>

#include "tracee.hpp"

namespace mpir = mpiacq::mpir;

namespace {

class minidebugger {
 public:
  explicit minidebugger(char** arguments) : program_(arguments) {}

  /// The starter's exit status, as a shell has it.
  int run() {
    for (;;) {
      const thread_report report = program_.next();
      if (report.thread < 0) return 125;
      if (report.is_end()) {
        if (report.thread != program_.pid()) continue;
        return WIFEXITED(report.status) ? WEXITSTATUS(report.status) : 128 + WTERMSIG(report.status);
      }
      if (const std::uint64_t at = program_.hit(report); at != 0) {
        program_.stop_others(report.thread);
        at_breakpoint(mpiacq::target_address{at});
        program_.resume(report.thread);
      } else if (report.event() == PTRACE_EVENT_EXEC) {
        at_exec();
        tracee::run(report.thread, 0);
      } else if (report.event() == PTRACE_EVENT_STOP && report.signal() != SIGTRAP) {
        ::ptrace(PTRACE_LISTEN, report.thread, nullptr, nullptr);  // stopped by a signal: it stays so until SIGCONT
      } else {
        tracee::run(report.thread, report.event() == 0 ? report.signal() : 0);
      }
    }
  }

 private:
  /// The library asks for the entry point, where the program's libraries are mapped and nothing of it has run.
  void at_exec() {
    entry_.reset();
    link_map_.reset();
    if (!open_symbols()) return;
    entry_ = symbols_->entry_point();
    program_.plant(*entry_);
  }

  void at_breakpoint(mpiacq::target_address at) {
    if (at == entry_) {
      program_.lift(at);
      if (open_symbols()) carry_out(mpir_.at_entry(starter()));
    } else if (at == link_map_) {
      if (symbols_->refresh().value_or(false)) carry_out(mpir_.modules_changed(starter()));
    } else if (at == mpir_.breakpoint()) {
      carry_out(mpir_.at_breakpoint(starter()));
    }
  }

  bool open_symbols() {
    auto opened = mpiacq::process_symbols::open(mpiacq::process_id{program_.pid()}, program_.memory());
    if (!opened) return std::fprintf(stderr, "%s\n", opened.error().message.c_str()), false;
    symbols_ = std::move(*opened);
    return true;
  }

  mpiacq::target starter() { return {program_.memory(), &program_.memory(), symbols_->abi(), *symbols_}; }

  void carry_out(mpiacq::result<std::vector<mpir::action>> actions) {
    if (!actions) return (void)std::fprintf(stderr, "%s\n", actions.error().message.c_str());
    for (const mpir::action& action : *actions) std::visit([&](const auto& a) { act(a); }, action);
  }

  void act(const mpir::plant_breakpoint& a) {
    program_.plant(a.address);
    if (link_map_) program_.lift(*link_map_);  // all symbols are there
  }
  void act(const mpir::lift_breakpoint& a) { program_.lift(a.address); }
  void act(const mpir::write_memory& a) {
    if (auto written = program_.memory().write(a.address, a.bytes); !written) complain(written.error());
  }
  void act(const mpir::watch_modules&) {
    link_map_ = symbols_->link_map_breakpoint();
    if (link_map_) program_.plant(*link_map_);
  }
  void act(const mpir::report_processes& a) {
    for (const mpiacq::entry_index entry : a.table->entries()) {
      const std::string host(a.table->host_name(entry).value_or("?"));
      std::fprintf(stderr, "rank %u is pid %lld on %s\n", entry.value(),
                   static_cast<long long>(a.table->pid(entry).value()), host.c_str());
    }
    carry_out(mpir_.before_detach(starter()));
  }
  void act(const mpir::report_abort& a) {
    std::fprintf(stderr, "the job aborts: %s\n", a.reason.value_or("no reason is given").c_str());
  }
  void act(const mpir::report_problem& a) { complain(a.what); }
  template <class Other>
  void act(const Other&) {}  // of attach mode, and for daemons: nothing here asks for either

  static void complain(const mpiacq::error& what) { std::fprintf(stderr, "%s\n", what.message.c_str()); }

  tracee program_;
  std::unique_ptr<mpiacq::process_symbols> symbols_;
  mpir::acquisition mpir_;
  std::optional<mpiacq::target_address> entry_;
  std::optional<mpiacq::target_address> link_map_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: minidebugger STARTER [ARGUMENT...]\n"), 125;
  return minidebugger(argv + 1).run();
}
