// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A library without debug information, whose data shows the sizes of its types as Open MPI's does.
#include "fake_openmpi.h"

char MPIR_dll_name[] = "/nowhere/libqueues.so";
const char ompi_version_string[] = "9.8.7rc1";
opal_class_t ompi_request_t_class = {"ompi_request_t", sizeof(ompi_request_t)};
opal_class_t ompi_group_t_class = {"ompi_group_t", sizeof(ompi_group_t)};
opal_class_t ompi_communicator_t_class = {"ompi_communicator_t", sizeof(ompi_communicator_t)};
opal_free_list_t mca_pml_base_send_requests;
mca_pml_base_component_t mca_pml_base_selected_component = {0, {1, PML}};
void mca_pml_cm_add_procs(void) {}
void (*mca_pml[])(void) = {0, mca_pml_cm_add_procs};
