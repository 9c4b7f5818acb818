// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/pmix_session.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/job/job_description.hpp"
#include "node_processes.hpp"
#include "server/pmix_server.hpp"

namespace mpiacq {

/// The PMIx server that a process leads to.
struct pmix_place {
  pmix::pmix_server server;
  process_id named;
  std::string nspace;  ///< of `named`, if it is a rank or descends from one; else empty
};

/// The server of the job that `named` belongs to: `named` itself, or the nearest ancestor of a rank that is a server.
/// Only processes of the user of `named` count. Empty: there is none. Errors: as `pmix::find_server`.
[[nodiscard]] result<std::optional<pmix_place>> find_pmix_place(process_id named);
/// The same, and where that finds nothing: the starter that the environment of the ranks below a wrapper shows.
[[nodiscard]] result<std::optional<pmix_place>> find_pmix_place_anywhere(process_id named);

/// The jobs that one server runs, each with the worlds that it has spawned. A server that was started for one job has
/// one; PRRTE's `prte` has as many as users start in it.
[[nodiscard]] std::vector<pmix::pmix_answer> jobs_in(pmix::pmix_answer answer);

/// A job of a server in the form in which `job::find` gives it. `worlds`: at least one.
[[nodiscard]] job_description description_of(const pmix_place& place, pmix::pmix_answer job);

/// The job of the namespace of `place`, or the only one. Errors: not_found (the server runs no job), invalid_argument
/// (it runs several, and none is chosen).
[[nodiscard]] result<pmix::pmix_answer> chosen_pmix_job(const pmix_place& place, pmix::pmix_answer all);

/// What a server answers now. Errors: as `pmix::pmix_session`.
[[nodiscard]] result<pmix::pmix_answer> ask_server(const pmix::pmix_server& server, const time_limit& until);

/// A session that connects to the server of a place and asks (`pmix_session::connect_and_ask`). `unless_older`: not if
/// the starter has MPIR, which is looked for in these files while the helper starts. Empty: it has. Errors: as
/// `pmix_session::begin_start`.
[[nodiscard]] result<std::optional<pmix::pmix_session>> begin_pmix_session(const pmix_place& place, bool follows,
                                                                           const debug_file_search* unless_older);

/// `job::find` by PMIx, of a server that `session` connects to. A job that is starting is looked at again until
/// `until`. Errors: as `ask_server`; not_found (the server runs no job), invalid_argument (it runs several, and none is
/// chosen).
[[nodiscard]] result<job_description> describe_pmix_job(const pmix_place& place, pmix::pmix_session session,
                                                        const time_limit& until);

/// Why the source `environment` takes the place of PMIx, and the other hosts of the job as far as the server knows
/// them.
struct pmix_shortfall {
  error why;
  std::vector<std::string> hosts;
};
/// A PRRTE daemon knows the pids of the ranks that it has started, and those of no other host. Empty: the table has the
/// pid of each remote rank.
[[nodiscard]] std::optional<pmix_shortfall> shortfall_of(const job_description& job);
/// The job as the environment of its ranks shows it. The environment shows less than PMIx, so that the description's
/// first problem is why PMIx gives no table. Errors: `instead_of.why` if the environment shows no job.
[[nodiscard]] result<job_description> environment_job_after(pmix_shortfall instead_of, process_id named,
                                                            const find_options& options, const time_limit& until);

/// Why `find_pmix_place_anywhere` found nothing.
[[nodiscard]] error no_pmix_job(process_id named);
/// Whether a PMIx server has MPIR. The starters of Open MPI 4 are PMIx servers, too, for their ranks; tools know them
/// by MPIR.
[[nodiscard]] bool has_older_interface(const process_facts& process, const debug_file_search& search);

}  // namespace mpiacq
