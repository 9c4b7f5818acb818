# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts into a prefix, and how another project finds it there: find_package(mpiacq CONFIG) gives
# mpiacq::mpiacq, and mpiacq.pc serves pkg-config. tests/consumer tries both, for a static and a shared library.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/mpiacq)
get_target_property(library_type mpiacq TYPE)

set_target_properties(mpiacq_api PROPERTIES EXPORT_NAME api)
install(TARGETS mpiacq mpiacq_api EXPORT mpiacq_targets)
install(TARGETS mpiacq_tracer mpiacq_mqd_host mpiacq_pmix_host RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/mpiacq)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/mpiacq DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(EXPORT mpiacq_targets NAMESPACE mpiacq:: DESTINATION ${package_folder})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/mpiacq-config.cmake.in
  ${PROJECT_BINARY_DIR}/mpiacq-config.cmake INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mpiacq-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mpiacq-config.cmake ${PROJECT_BINARY_DIR}/mpiacq-config-version.cmake
  ${CMAKE_CURRENT_LIST_DIR}/Libunwind.cmake ${CMAKE_CURRENT_LIST_DIR}/Capstone.cmake
  DESTINATION ${package_folder})

# A shared library brings its own dependencies along. A static one cannot: whoever links it must name them too, also
# without --static, which would ask for static libraries all the way down.
if(library_type STREQUAL "STATIC_LIBRARY")
  set(MPIACQ_PC_REQUIRES "Requires: libdw libelf libdeflate liblzma libzmq fmt")
  set(MPIACQ_PC_LIBS "-lunwind-generic -lcapstone -pthread")
else()
  set(MPIACQ_PC_REQUIRES "Requires.private: libdw libelf libdeflate liblzma libzmq fmt")
  set(MPIACQ_PC_LIBS "")
endif()
file(RELATIVE_PATH MPIACQ_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/mpiacq.pc.in ${PROJECT_BINARY_DIR}/mpiacq.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mpiacq.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(MPIACQ_TOOLS)
  install(TARGETS mpiacq_agent RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/mpiacq)
  get_property(commands DIRECTORY ${PROJECT_SOURCE_DIR}/tools/mpiacq PROPERTY BUILDSYSTEM_TARGETS)
  file(RELATIVE_PATH to_library ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  foreach(command IN LISTS commands)
    get_target_property(command_type ${command} TYPE)
    if(command_type STREQUAL "EXECUTABLE")
      # A prefix that is moved as a whole keeps working. With a static library there is nothing to find, and the room
      # that CMake keeps for the path in the build folder's program is one that the loader searches.
      if(NOT library_type STREQUAL "STATIC_LIBRARY")
        set_target_properties(${command} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
      endif()
      install(TARGETS ${command})
    endif()
  endforeach()
  if(EXISTS ${PROJECT_SOURCE_DIR}/docs/mpiacq.1)
    install(FILES ${PROJECT_SOURCE_DIR}/docs/mpiacq.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
endif()
