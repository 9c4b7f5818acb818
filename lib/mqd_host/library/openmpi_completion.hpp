// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace mpiacq::mqd_host {

/// Corrects how Open MPI's queue library reads whether a request is complete.
///
/// Since Open MPI 2, `ompi_request_t.req_complete` is a pointer: 0 means pending, 1 means complete, and any other value
/// is the address of the object that a waiting thread sleeps on, so the request is pending. The library (seen in 4.1.4)
/// still fetches one byte there, as a bool, and takes every value but 0 for "complete". It would report all requests of
/// a rank in MPI_Waitall, MPI_Waitany, MPI_Waitsome or MPI_Mprobe as complete.
///
/// The correction applies to each library that asks for that member, whatever its version. Where the member is a true
/// bool (Open MPI 1), a fetched byte is 0 or 1 and stays as it is. The library fetches nothing but bools as single
/// bytes, and the address cannot end in the byte 1, because the object is aligned.
class openmpi_completion {
 public:
  /// To be called when the library asks for the offset of a member.
  void asked_for(std::string_view type, std::string_view member);
  /// Changes a single byte that is neither 0 nor 1 to "pending". Leaves all other fetches unchanged.
  void correct(std::span<std::byte> fetched) const;

 private:
  bool applies_ = false;
};

}  // namespace mpiacq::mqd_host
