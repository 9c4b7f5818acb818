// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "types/recipes.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "mpiacq/queues/type_carriers.hpp"

namespace mpiacq::carriers {

namespace {

constexpr std::string_view openmpi_wrappers[] = {"mpicc.openmpi", "mpicc"};
/// Behind each include folder that the wrapper names. The last one has Debian's pmix.h, which Open MPI 5 needs and
/// whose folder the wrapper does not name.
constexpr std::string_view openmpi_include_folders[] = {"", "/openmpi", "/../../pmix2/include"};

/// The types that Open MPI's queue library asks for. Each is the type of a variable, so that the compiler describes it.
/// The packages lack one header, ompi/peruse/peruse.h. None of these types needs it, and the first line defines its
/// include guard. Since Open MPI 5 the packages lack the three headers that define locks on top of POSIX threads. The
/// types contain such locks, so the source declares them where the headers are missing; the headers of another kind of
/// threads are not replaced. The members' offsets depend on the locks' sizes, which the comparison with the library
/// confirms.
constexpr std::string_view openmpi_source = R"(#define _PERUSE_INTERNAL_H_
#if __has_include(<opal_config.h>)
#include <opal_config.h>
#endif
#ifdef MCA_threads_mutex_base_include_HEADER
#if !__has_include(MCA_threads_mutex_base_include_HEADER)
_Static_assert(
    __builtin_strcmp(MCA_threads_mutex_base_include_HEADER, "opal/mca/threads/pthreads/threads_pthreads_mutex.h") == 0,
    "a header of threads is missing that are no POSIX threads");
#include <pthread.h>
#include <stdbool.h>
typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;
typedef pthread_key_t opal_tsd_key_t;
int opal_thread_internal_mutex_init(opal_thread_internal_mutex_t *, bool);
int opal_thread_internal_mutex_trylock(opal_thread_internal_mutex_t *);
void opal_thread_internal_mutex_lock(opal_thread_internal_mutex_t *);
void opal_thread_internal_mutex_unlock(opal_thread_internal_mutex_t *);
void opal_thread_internal_mutex_destroy(opal_thread_internal_mutex_t *);
int opal_thread_internal_cond_init(opal_thread_internal_cond_t *);
void opal_thread_internal_cond_signal(opal_thread_internal_cond_t *);
void opal_thread_internal_cond_destroy(opal_thread_internal_cond_t *);
static inline void opal_thread_yield(void) {}
#undef MCA_threads_mutex_base_include_HEADER
#undef MCA_threads_base_include_HEADER
#undef MCA_threads_tsd_base_include_HEADER
#define MCA_threads_mutex_base_include_HEADER <pthread.h>
#define MCA_threads_base_include_HEADER <pthread.h>
#define MCA_threads_tsd_base_include_HEADER <pthread.h>
#endif
#endif
#include <ompi_config.h>
#include <mpi.h>
#include <ompi/communicator/communicator.h>
#include <ompi/datatype/ompi_datatype.h>
#include <ompi/file/file.h>
#include <ompi/group/group.h>
#include <ompi/mca/pml/base/pml_base_recvreq.h>
#include <ompi/mca/pml/base/pml_base_request.h>
#include <ompi/mca/pml/base/pml_base_sendreq.h>
#include <ompi/mca/pml/pml.h>
#include <ompi/mca/topo/base/base.h>
#include <ompi/mca/topo/topo.h>
#include <ompi/request/request.h>
#include <ompi/win/win.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
const char mpiacq_carrier_version[] =
    TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION) "." TEXT(OMPI_RELEASE_VERSION);
const char mpiacq_carrier_for[] = MPIACQ_CARRIER_FOR;

#define CARRY(type) type *mpiacq_carried_##type
CARRY(opal_class_t);
CARRY(opal_datatype_t);
CARRY(opal_free_list_item_t);
CARRY(opal_free_list_t);
CARRY(opal_hash_table_t);
CARRY(opal_list_item_t);
CARRY(opal_list_t);
CARRY(opal_pointer_array_t);
CARRY(ompi_communicator_t);
CARRY(ompi_datatype_t);
CARRY(ompi_file_t);
CARRY(ompi_group_t);
CARRY(ompi_request_t);
CARRY(ompi_status_public_t);
CARRY(ompi_win_t);
CARRY(mca_base_component_t);
CARRY(mca_pml_base_component_t);
CARRY(mca_pml_base_request_t);
CARRY(mca_pml_base_recv_request_t);
CARRY(mca_pml_base_send_request_t);
CARRY(mca_topo_base_module_t);
CARRY(mca_topo_base_comm_cart_2_2_0_t);
CARRY(mca_topo_base_comm_dist_graph_2_2_0_t);
CARRY(mca_topo_base_comm_graph_2_2_0_t);
)";

constexpr size_rule openmpi_sizes[] = {
    {"opal_class_t", "ompi_communicator_t_class"},
    {"opal_pointer_array_t", "ompi_mpi_communicators"},
    {"opal_free_list_t", "mca_pml_base_send_requests"},
    {"mca_pml_base_component_t", "mca_pml_base_selected_component"},
    {"opal_datatype_t", "opal_datatype_t_class", size_witness::class_object},
    {"opal_free_list_item_t", "opal_free_list_item_t_class", size_witness::class_object},
    {"opal_free_list_t", "opal_free_list_t_class", size_witness::class_object},
    {"opal_hash_table_t", "opal_hash_table_t_class", size_witness::class_object},
    {"opal_list_item_t", "opal_list_item_t_class", size_witness::class_object},
    {"opal_list_t", "opal_list_t_class", size_witness::class_object},
    {"opal_pointer_array_t", "opal_pointer_array_t_class", size_witness::class_object},
    {"ompi_communicator_t", "ompi_communicator_t_class", size_witness::class_object},
    {"ompi_datatype_t", "ompi_datatype_t_class", size_witness::class_object},
    {"ompi_file_t", "ompi_file_t_class", size_witness::class_object},
    {"ompi_group_t", "ompi_group_t_class", size_witness::class_object},
    {"ompi_request_t", "ompi_request_t_class", size_witness::class_object},
    {"ompi_win_t", "ompi_win_t_class", size_witness::class_object},
    {"mca_pml_base_request_t", "mca_pml_base_request_t_class", size_witness::class_object},
    {"mca_pml_base_recv_request_t", "mca_pml_base_recv_request_t_class", size_witness::class_object},
    {"mca_pml_base_send_request_t", "mca_pml_base_send_request_t_class", size_witness::class_object},
    {"mca_topo_base_module_t", "mca_topo_base_module_t_class", size_witness::class_object},
    {"mca_topo_base_comm_cart_2_2_0_t", "mca_topo_base_comm_cart_2_2_0_t_class", size_witness::class_object},
    {"mca_topo_base_comm_graph_2_2_0_t", "mca_topo_base_comm_graph_2_2_0_t_class", size_witness::class_object},
    {"mca_topo_base_comm_dist_graph_2_2_0_t", "mca_topo_base_comm_dist_graph_2_2_0_t_class",
     size_witness::class_object},
};

constexpr recipe recipes[] = {
    {"openmpi", "Open MPI", "opal_ ompi_ mca_",
     "install its development headers (libopenmpi-dev on Debian and Ubuntu) and a C compiler and run `mpiacq types "
     "openmpi` once, or use an Open MPI with debug information",
     true, openmpi_wrappers, "Open MPI", "opal/class/opal_list.h", openmpi_include_folders, "libmpi.so",
     "ompi_version_string", openmpi_source, openmpi_sizes},
    {"mpich",
     "MPICH",
     "MPIR_ MPIDI_ MPID_ MPII_",
     "install its debug symbols if the distribution has them, or use an MPICH that was configured with "
     "--with-device=ch3 and "
     "--enable-debuginfo; its development packages have no internal headers from which types could be compiled",
     false,
     {},
     {},
     {},
     {},
     {},
     {},
     {},
     {}},
};

}  // namespace

std::span<const recipe> all_recipes() {
  return recipes;
}

const recipe* find_recipe(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(recipes), std::end(recipes), [&](const recipe& r) { return r.name == name; });
  return found == std::end(recipes) ? nullptr : found;
}

}  // namespace mpiacq::carriers

namespace mpiacq {

std::optional<std::string> mpi_with_carriers(symbol_source& symbols) {
  for (const carriers::recipe& of : carriers::all_recipes()) {
    if (!of.can_be_made) continue;
    const auto found = symbols.look_up({&of.version_symbol, 1}, {true, nullptr});
    if (found && found->front()) return std::string{of.name};
  }
  return std::nullopt;
}

}  // namespace mpiacq
