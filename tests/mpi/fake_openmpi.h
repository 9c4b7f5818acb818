// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The part of Open MPI's internal headers that a carrier needs. Every header that it includes is this one.
#ifndef FAKE_OPENMPI_H
#define FAKE_OPENMPI_H
#include <stddef.h>

#define OMPI_MAJOR_VERSION 9
#define OMPI_MINOR_VERSION 8
#ifndef OMPI_RELEASE_VERSION
#define OMPI_RELEASE_VERSION 7
#endif

typedef struct {
  const char* cls_name;
  size_t cls_sizeof;
} opal_class_t;

#define FAKE_TYPE(name, size) \
  typedef struct name {       \
    char bytes[size];         \
  } name
FAKE_TYPE(opal_datatype_t, 10);
FAKE_TYPE(opal_free_list_item_t, 11);
FAKE_TYPE(opal_free_list_t, 12);
FAKE_TYPE(opal_hash_table_t, 13);
FAKE_TYPE(opal_list_item_t, 14);
FAKE_TYPE(opal_list_t, 15);
FAKE_TYPE(opal_pointer_array_t, 16);
FAKE_TYPE(ompi_communicator_t, 17);
FAKE_TYPE(ompi_datatype_t, 18);
FAKE_TYPE(ompi_group_t, 19);
#ifndef REQUEST_SIZE
#define REQUEST_SIZE 20
#endif
FAKE_TYPE(ompi_request_t, REQUEST_SIZE);
FAKE_TYPE(ompi_status_public_t, 21);
typedef struct {
  int version;
  char mca_component_name[8];
} mca_base_component_t;
typedef struct {
  long before;
  mca_base_component_t pmlm_version;
} mca_pml_base_component_t;
FAKE_TYPE(mca_pml_base_request_t, 23);
FAKE_TYPE(mca_pml_base_recv_request_t, 24);
FAKE_TYPE(mca_pml_base_send_request_t, 25);
FAKE_TYPE(mca_topo_base_module_t, 26);
FAKE_TYPE(mca_topo_base_comm_cart_2_2_0_t, 27);
FAKE_TYPE(mca_topo_base_comm_dist_graph_2_2_0_t, 28);
FAKE_TYPE(mca_topo_base_comm_graph_2_2_0_t, 29);
FAKE_TYPE(ompi_file_t, 30);
FAKE_TYPE(ompi_win_t, 31);

#endif
