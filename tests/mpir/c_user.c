// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A debugger written in C. It receives a target and prints each action and each result on one line.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mpiacq/mpir/mpir.h"

static char* at;
static size_t room;

static void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(at, room, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= room) return;
  at += length;
  room -= (size_t)length;
}

static void say_action(const struct mpiacq_action* action) {
  switch ((enum mpiacq_action_kind)action->kind) {
    case MPIACQ_PLANT_BREAKPOINT:
      say("plant 0x%llx\n", (unsigned long long)action->address);
      return;
    case MPIACQ_LIFT_BREAKPOINT:
      say("lift 0x%llx\n", (unsigned long long)action->address);
      return;
    case MPIACQ_WRITE:
      say("write %s %zu bytes\n", action->text, action->size);
      return;
    case MPIACQ_WATCH_VARIABLE:
    case MPIACQ_UNWATCH_VARIABLE:
      say("%s %zu bytes\n", action->kind == MPIACQ_WATCH_VARIABLE ? "watch" : "unwatch", action->size);
      return;
    case MPIACQ_KICK_FIFO:
      say("kick %s\n", action->text);
      return;
    case MPIACQ_WATCH_MODULES:
      say("watch modules\n");
      return;
    case MPIACQ_AWAIT_TABLE:
      say("await %d of %d%s\n", (int)action->filled, (int)action->claimed, action->looks_like_rank ? ", a rank" : "");
      return;
    case MPIACQ_REPORT_PROCESSES:
      say("processes\n");
      return;
    case MPIACQ_REPORT_ABORT:
      say("abort %s\n", action->text == NULL ? "-" : action->text);
      return;
    case MPIACQ_REPORT_DAEMONS:
      say("daemons\n");
      return;
    case MPIACQ_REPORT_PROBLEM:
      say("problem %d %s\n", action->code, action->text);
      return;
  }
}

static void carry_out(struct mpiacq_mpir* m, const struct mpiacq_target* target, int code) {
  struct mpiacq_action action;
  memset(&action, 0, sizeof action);
  action.struct_size = sizeof action;
  if (code != MPIACQ_OK) say("error %d %s\n", code, mpiacq_mpir_error(m));
  for (size_t i = 0; mpiacq_mpir_action(m, i, &action) == MPIACQ_OK; ++i) say_action(&action);
  if (target->write == NULL || code != MPIACQ_OK) return;
  code = mpiacq_mpir_carry_out_writes(m, target);
  if (code != MPIACQ_OK) say("error %d %s\n", code, mpiacq_mpir_error(m));
}

static void say_table(struct mpiacq_mpir* m) {
  struct mpiacq_rank rank;
  struct mpiacq_problem problem;
  memset(&rank, 0, sizeof rank);
  memset(&problem, 0, sizeof problem);
  rank.struct_size = sizeof rank;
  problem.struct_size = sizeof problem;
  say("%zu ranks, layout %s\n", mpiacq_mpir_rank_count(m), mpiacq_mpir_layout_source(m));
  for (size_t i = 0; mpiacq_mpir_rank(m, i, &rank) == MPIACQ_OK; ++i) {
    say("rank %zu %s %s %lld\n", i, rank.host == NULL ? "?" : rank.host,
        rank.executable == NULL ? "?" : rank.executable, (long long)rank.pid);
  }
  for (size_t i = 0; mpiacq_mpir_problem(m, i, &problem) == MPIACQ_OK; ++i) {
    say("of rank %zu: %s\n", problem.rank, problem.sentence);
  }
}

// Launch or attach, the event, and the detach.
void c_user_drives(const struct mpiacq_mpir_options* options, const struct mpiacq_target* target, int attach,
                   char* text, size_t size) {
  struct mpiacq_mpir* m = NULL;
  at = text;
  room = size;
  if (mpiacq_mpir_create(options, &m) != MPIACQ_OK) {
    say("no handle\n");
    return;
  }
  carry_out(m, target, attach ? mpiacq_mpir_at_attach(m, target) : mpiacq_mpir_at_entry(m, target));
  carry_out(m, target, mpiacq_mpir_at_breakpoint(m, target));
  say_table(m);
  carry_out(m, target, mpiacq_mpir_before_detach(m, target));
  mpiacq_mpir_destroy(m);
}
