// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The distribution's libzmq can prove who somebody is by Kerberos, too, and a program that it is linked into would need
// Kerberos' libraries for that. Agents never ask for it: they have CURVE. Whatever libzmq has it say fails.
#include <gssapi/gssapi.h>

gss_OID GSS_C_NT_HOSTBASED_SERVICE = nullptr;
gss_OID GSS_C_NT_USER_NAME = nullptr;

OM_uint32 gss_acquire_cred(OM_uint32*, gss_name_t, OM_uint32, gss_OID_set, gss_cred_usage_t, gss_cred_id_t*,
                           gss_OID_set*, OM_uint32*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_release_cred(OM_uint32*, gss_cred_id_t*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_init_sec_context(OM_uint32*, gss_cred_id_t, gss_ctx_id_t*, gss_name_t, gss_OID, OM_uint32, OM_uint32,
                               gss_channel_bindings_t, gss_buffer_t, gss_OID*, gss_buffer_t, OM_uint32*, OM_uint32*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_accept_sec_context(OM_uint32*, gss_ctx_id_t*, gss_cred_id_t, gss_buffer_t, gss_channel_bindings_t,
                                 gss_name_t*, gss_OID*, gss_buffer_t, OM_uint32*, OM_uint32*, gss_cred_id_t*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_delete_sec_context(OM_uint32*, gss_ctx_id_t*, gss_buffer_t) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_wrap(OM_uint32*, gss_ctx_id_t, int, gss_qop_t, gss_buffer_t, int*, gss_buffer_t) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_unwrap(OM_uint32*, gss_ctx_id_t, gss_buffer_t, gss_buffer_t, int*, gss_qop_t*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_import_name(OM_uint32*, gss_buffer_t, gss_OID, gss_name_t*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_display_name(OM_uint32*, gss_name_t, gss_buffer_t, gss_OID*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_release_name(OM_uint32*, gss_name_t*) {
  return GSS_S_UNAVAILABLE;
}
OM_uint32 gss_release_buffer(OM_uint32*, gss_buffer_t) {
  return GSS_S_UNAVAILABLE;
}
