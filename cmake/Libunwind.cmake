# libunwind::generic, the part of libunwind that walks stacks of other processes. It is linked by itself and not by what
# pkg-config says: that adds the part for a program's own stack, which has the C++ runtime's functions (_Unwind_*) too
# and, where it comes first, puts its own in their place.
find_path(MPIACQ_LIBUNWIND_INCLUDE libunwind.h)
find_library(MPIACQ_LIBUNWIND_LIBRARY unwind-generic)
mark_as_advanced(MPIACQ_LIBUNWIND_INCLUDE MPIACQ_LIBUNWIND_LIBRARY)
if(MPIACQ_LIBUNWIND_INCLUDE AND MPIACQ_LIBUNWIND_LIBRARY AND NOT TARGET libunwind::generic)
  add_library(libunwind::generic UNKNOWN IMPORTED)
  set_target_properties(libunwind::generic PROPERTIES
    IMPORTED_LOCATION ${MPIACQ_LIBUNWIND_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${MPIACQ_LIBUNWIND_INCLUDE})
endif()
