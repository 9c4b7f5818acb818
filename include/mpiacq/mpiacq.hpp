// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The front door: what most tools need of the library.
///
///   auto job = mpiacq::job::find(mpiacq::process_id{4711});  // the starter, or any rank; nothing is stopped
///   auto ranks = job->ranks({.select = "0-15", .until = mpiacq::in(30s)});
///   auto tree = ranks->stacks({.threads = mpiacq::which_threads::all});
///   auto sense = ranks->waits();
///   for (const auto& deadlock : sense->deadlocks) std::cout << deadlock.sentence() << "\n";
///
/// `job` observes a job (`find`) or controls one (`attach`, `launch`). `job_description` is what is known of it.
/// `rank_group` holds, releases and looks at ranks, on this node and on others; `rank_options` and `time_limit` say
/// which ranks, how, and how long. `rank_report` is what one look shows of one rank, `call_tree` the stacks of all of
/// them, `confirmed_waits` which rank waits for which. Calls that can fail give a `result`, which holds a value or an
/// `error`.
///
/// The other headers are for tools that bring their own process control (mpir/, mpi2dd/, queues/, process/) and for the
/// conformance checker (check/).
#pragma once

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/time_limit.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/job/job_description.hpp"
#include "mpiacq/ranks/call_tree.hpp"
#include "mpiacq/ranks/confirmed_waits.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "mpiacq/ranks/rank_options.hpp"
#include "mpiacq/ranks/rank_report.hpp"
