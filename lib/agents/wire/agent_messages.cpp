// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "wire/agent_messages.hpp"

#include <utility>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "wire/end_documents.hpp"
#include "wire/queue_documents.hpp"
#include "wire/tree_documents.hpp"
#include "wire/visit_documents.hpp"

namespace mpiacq::agents {

template <>
inline constexpr auto last_of<hold_state> = hold_state::failed;
template <>
inline constexpr auto last_of<leave> = leave::stopped;
template <>
inline constexpr auto last_of<which_threads> = which_threads::all;

template <>
inline constexpr auto last_of<interface_kind> = interface_kind::mpi2dd;

}  // namespace mpiacq::agents

namespace mpiacq {

template <>
inline constexpr auto members<agents::peer_address> =
    std::tuple{member{"endpoints", &agents::peer_address::endpoints}, member{"key", &agents::peer_address::key}};
template <>
inline constexpr auto members<agents::node_names> =
    std::tuple{member{"given", &agents::node_names::given}, member{"host", &agents::node_names::host},
               member{"slurm", &agents::node_names::slurm}, member{"addresses", &agents::node_names::addresses}};
template <>
inline constexpr auto members<rank_process> = std::tuple{member{"rank", &rank_process::entry},
                                                         member{"pid", &rank_process::pid},
                                                         member{"executable", &rank_process::executable},
                                                         member{"told", &rank_process::rank},
                                                         member{"name", &rank_process::name},
                                                         member{"user", &rank_process::user}};
template <>
inline constexpr auto members<agents::hello> =
    std::tuple{member{"credential", &agents::hello::credential}, member{"number", &agents::hello::number},
               member{"names", &agents::hello::names}, member{"address", &agents::hello::address}};
template <>
inline constexpr auto members<agents::assignment> =
    std::tuple{member{"number", &agents::assignment::number}, member{"above", &agents::assignment::above},
               member{"ranks", &agents::assignment::ranks}};
template <>
inline constexpr auto members<agents::welcome> = std::tuple<>{};
template <>
inline constexpr auto members<agents::goodbye> = std::tuple{member{"why", &agents::goodbye::why}};
template <>
inline constexpr auto members<agents::finish_early> = std::tuple{member{"number", &agents::finish_early::number}};
template <>
inline constexpr auto members<agents::heartbeat> =
    std::tuple{member{"done", &agents::heartbeat::done}, member{"all", &agents::heartbeat::all}};
template <>
inline constexpr auto members<stack_options> = std::tuple{member{"ranks", &stack_options::ranks},
                                                          member{"threads", &stack_options::threads},
                                                          member{"max_frames", &stack_options::max_frames},
                                                          member{"arguments", &stack_options::arguments},
                                                          member{"leave_stopped", &stack_options::leave_stopped},
                                                          member{"run_first_us", &stack_options::run_first},
                                                          member{"positions", &stack_options::positions}};
template <>
inline constexpr auto members<debug_file_search> = std::tuple{member{"folders", &debug_file_search::folders}};
template <>
inline constexpr auto members<ask_hold> = std::tuple<>{};
template <>
inline constexpr auto members<ask_release> = std::tuple{member{"how", &ask_release::how}};
template <>
inline constexpr auto members<ask_stacks> =
    std::tuple{member{"how", &ask_stacks::how}, member{"debug_files", &ask_stacks::debug_files}};
template <>
inline constexpr auto members<queue_host_options> = std::tuple{
    member{"limits", &queue_host_options::limits}, member{"trust_library", &queue_host_options::trust_library}};
template <>
inline constexpr auto members<queue_types_options> =
    std::tuple{member{"file", &queue_types_options::file}, member{"cache_folder", &queue_types_options::cache_folder},
               member{"debug_files", &queue_types_options::debug_files}};
template <>
inline constexpr auto members<rank_queue_options> =
    std::tuple{member{"ranks", &rank_queue_options::ranks},
               member{"library", &rank_queue_options::library},
               member{"no_library", &rank_queue_options::no_library},
               member{"host", &rank_queue_options::host},
               member{"types", &rank_queue_options::types},
               member{"stacks", &rank_queue_options::stacks},
               member{"side_by_side", &rank_queue_options::ranks_at_once}};
template <>
inline constexpr auto members<ask_queues> = std::tuple{member{"how", &ask_queues::how}};
template <>
inline constexpr auto members<gate_options> =
    std::tuple{member{"ranks", &gate_options::ranks}, member{"interface", &gate_options::interface},
               member{"limit_us", &gate_options::limit}};
template <>
inline constexpr auto members<ask_gates> =
    std::tuple{member{"how", &ask_gates::how}, member{"debug_files", &ask_gates::debug_files}};
template <>
inline constexpr auto members<follow_options> =
    std::tuple{member{"continue_stopped", &follow_options::continue_stopped}};
template <>
inline constexpr auto members<ask_follow> =
    std::tuple{member{"follow", &ask_follow::follow}, member{"how", &ask_follow::how}};
template <>
inline constexpr auto members<ask_ends> = std::tuple<>{};
template <>
inline constexpr auto members<ask_cores> = std::tuple{member{"how", &ask_cores::how}};
template <>
inline constexpr auto members<mpi2dd::process_request> =
    std::tuple{member{"pid", &mpi2dd::process_request::pid}, member{"executable", &mpi2dd::process_request::executable},
               member{"tables", &mpi2dd::process_request::tables}};
template <>
inline constexpr auto members<agents::agent_visits> =
    std::tuple{member{"agent", &agents::agent_visits::agent}, member{"processes", &agents::agent_visits::processes}};
template <>
inline constexpr auto members<agents::ask_visits> =
    std::tuple{member{"of", &agents::ask_visits::of}, member{"limits", &agents::ask_visits::limits},
               member{"max_rereads", &agents::ask_visits::max_rereads}, member{"user", &agents::ask_visits::user},
               member{"debug_folders", &agents::ask_visits::debug_folders}};
template <>
inline constexpr auto members<agents::ask_job_ranks> =
    std::tuple{member{"agent", &agents::ask_job_ranks::agent}, member{"keys", &agents::ask_job_ranks::keys}};
template <>
inline constexpr auto members<agents::job_rank> =
    std::tuple{member{"world", &agents::job_rank::world}, member{"rank", &agents::job_rank::rank},
               member{"pid", &agents::job_rank::pid}, member{"executable", &agents::job_rank::executable}};
template <>
inline constexpr auto members<agents::agent_job_ranks> =
    std::tuple{member{"agent", &agents::agent_job_ranks::agent}, member{"ranks", &agents::agent_job_ranks::ranks},
               member{"left_out", &agents::agent_job_ranks::left_out}};
template <>
inline constexpr auto members<agents::job_ranks_part> = std::tuple{member{"of", &agents::job_ranks_part::of}};
template <>
inline constexpr auto members<agents::ask> =
    std::tuple{member{"number", &agents::ask::number}, member{"limit_ms", &agents::ask::limit_ms},
               member{"what", &agents::ask::what}};
template <>
inline constexpr auto members<rank_hold> =
    std::tuple{member{"rank", &rank_hold::entry}, member{"pid", &rank_hold::pid}, member{"state", &rank_hold::state},
               member{"why", &rank_hold::why}};
template <>
inline constexpr auto members<refused_ranks> =
    std::tuple{member{"ranks", &refused_ranks::ranks}, member{"why", &refused_ranks::why}};
template <>
inline constexpr auto members<hold_part> =
    std::tuple{member{"held", &hold_part::held}, member{"others", &hold_part::others}};
template <>
inline constexpr auto members<release_part> =
    std::tuple{member{"released", &release_part::released}, member{"refused", &release_part::refused}};
template <>
inline constexpr auto members<rank_mpi_call> =
    std::tuple{member{"rank", &rank_mpi_call::entry}, member{"doing", &rank_mpi_call::doing}};
template <>
inline constexpr auto members<rank_position> = std::tuple{member{"rank", &rank_position::entry},
                                                          member{"activations", &rank_position::activations},
                                                          member{"call", &rank_position::call},
                                                          member{"contents", &rank_position::contents},
                                                          member{"left", &rank_position::left},
                                                          member{"left_end", &rank_position::left_end},
                                                          member{"instruction", &rank_position::instruction},
                                                          member{"bytes_moved", &rank_position::bytes_moved}};
template <>
inline constexpr auto members<group_stacks> =
    std::tuple{member{"tree", &group_stacks::tree},          member{"taken", &group_stacks::taken},
               member{"refused", &group_stacks::refused},    member{"held_us", &group_stacks::held_for},
               member{"problems", &group_stacks::problems},  member{"calls", &group_stacks::calls},
               member{"stopped", &group_stacks::stopped},    member{"not_run", &group_stacks::not_run},
               member{"positions", &group_stacks::positions}};
template <>
inline constexpr auto members<group_ends> =
    std::tuple{member{"failed", &group_ends::failed}, member{"ended", &group_ends::ended},
               member{"followed", &group_ends::followed}, member{"refused", &group_ends::refused},
               member{"stacks", &group_ends::stacks}};
template <>
inline constexpr auto members<rank_cores> =
    std::tuple{member{"written", &rank_cores::written}, member{"refused", &rank_cores::refused}};
template <>
inline constexpr auto members<agents::agent_accounts> =
    std::tuple{member{"agent", &agents::agent_accounts::agent}, member{"said", &agents::agent_accounts::said}};
template <>
inline constexpr auto members<agents::visits_part> = std::tuple{member{"of", &agents::visits_part::of}};
template <>
inline constexpr auto members<opened_gates> =
    std::tuple{member{"open", &opened_gates::open}, member{"without", &opened_gates::without},
               member{"refused", &opened_gates::refused}};
template <>
inline constexpr auto members<agents::agent_problem> =
    std::tuple{member{"agent", &agents::agent_problem::agent}, member{"why", &agents::agent_problem::why}};
template <>
inline constexpr auto members<agents::answer> =
    std::tuple{member{"number", &agents::answer::number}, member{"agents", &agents::answer::agents},
               member{"problems", &agents::answer::problems}, member{"what", &agents::answer::what}};

}  // namespace mpiacq

namespace mpiacq::agents {

template <>
inline constexpr std::string_view kind_of<hello> = "hello";
template <>
inline constexpr std::string_view kind_of<assignment> = "assignment";
template <>
inline constexpr std::string_view kind_of<welcome> = "welcome";
template <>
inline constexpr std::string_view kind_of<goodbye> = "goodbye";
template <>
inline constexpr std::string_view kind_of<ask> = "ask";
template <>
inline constexpr std::string_view kind_of<answer> = "answer";
template <>
inline constexpr std::string_view kind_of<heartbeat> = "heartbeat";
template <>
inline constexpr std::string_view kind_of<finish_early> = "finish_early";
template <>
inline constexpr std::string_view kind_of<ask_hold> = "hold";
template <>
inline constexpr std::string_view kind_of<ask_release> = "release";
template <>
inline constexpr std::string_view kind_of<ask_stacks> = "stacks";
template <>
inline constexpr std::string_view kind_of<ask_queues> = "queues";
template <>
inline constexpr std::string_view kind_of<ask_visits> = "visits";
template <>
inline constexpr std::string_view kind_of<ask_gates> = "gates";
template <>
inline constexpr std::string_view kind_of<ask_job_ranks> = "job_ranks";
template <>
inline constexpr std::string_view kind_of<ask_follow> = "follow";
template <>
inline constexpr std::string_view kind_of<ask_ends> = "ends";
template <>
inline constexpr std::string_view kind_of<ask_cores> = "cores";
template <>
inline constexpr std::string_view kind_of<group_ends> = "ends";
template <>
inline constexpr std::string_view kind_of<rank_cores> = "cores";
template <>
inline constexpr std::string_view kind_of<job_ranks_part> = "job_ranks";
template <>
inline constexpr std::string_view kind_of<hold_part> = "hold";
template <>
inline constexpr std::string_view kind_of<release_part> = "release";
template <>
inline constexpr std::string_view kind_of<group_stacks> = "stacks";
template <>
inline constexpr std::string_view kind_of<group_queues> = "queues";
template <>
inline constexpr std::string_view kind_of<visits_part> = "visits";
template <>
inline constexpr std::string_view kind_of<opened_gates> = "gates";

std::vector<std::byte> encode(const message& what, const pulse& beat) {
  document_writer writer(beat);
  writer.begin_map(2);
  writer.put_text("schema");
  writer.put_text(schema);
  writer.put_alternative(what);
  return std::move(writer).take();
}

result<message> decode(std::span<const std::byte> bytes, const pulse& beat) {
  if (bytes.size() > most_bytes) {
    return fail(error_code::limit, fmt::format("a message has {} bytes, more than {}", bytes.size(), most_bytes));
  }
  document_reader reader(bytes, beat);
  reader.begin_map(2);
  reader.key("schema");
  if (const auto theirs = reader.get_text(); reader.fine() && theirs != schema) {
    constexpr std::size_t shown = 64;
    reader.give_up(error_code::unsupported, fmt::format("the other side speaks '{}', and this one '{}': agents and "
                                                        "mpiacq must be of one version",
                                                        theirs.substr(0, shown), schema));
  }
  message what;
  reader.get_alternative(what);
  TRY(reader.finish());
  return what;
}

}  // namespace mpiacq::agents
