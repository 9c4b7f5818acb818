# capstone::capstone, which decodes instructions. Its pkg-config files of several versions disagree about the folder that
# the header is included from, so the files themselves are looked for.
find_path(MPIACQ_CAPSTONE_INCLUDE capstone/capstone.h)
find_library(MPIACQ_CAPSTONE_LIBRARY capstone)
mark_as_advanced(MPIACQ_CAPSTONE_INCLUDE MPIACQ_CAPSTONE_LIBRARY)
if(MPIACQ_CAPSTONE_INCLUDE AND MPIACQ_CAPSTONE_LIBRARY AND NOT TARGET capstone::capstone)
  add_library(capstone::capstone UNKNOWN IMPORTED)
  set_target_properties(capstone::capstone PROPERTIES
    IMPORTED_LOCATION ${MPIACQ_CAPSTONE_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${MPIACQ_CAPSTONE_INCLUDE})
endif()
