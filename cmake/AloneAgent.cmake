# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
# The agent as one file: what a node needs for it is the C library. With MPIACQ_ALONE there is mpiacq_alone, which the
# agent, and the tracing program in it, are linked with in place of shared libraries. Where some of them are not to be had
# as archives, or do not fit together, it is off, and the agent is linked as everything else is: nodes then need those
# libraries.
set(MPIACQ_ALONE OFF)
set(alone_folder ${PROJECT_SOURCE_DIR}/cmake/alone)

# In the order of the linker: who needs comes before who is needed.
set(alone_archives
  zmq sodium pgm norm protokit bsd md  # libzmq, and what it is made with
  dw elf
  unwind-generic gcc_eh unwind         # gcc_eh in between: what libunwind has of the C++ runtime must not take its place
  capstone deflate
  lzma bz2 z)                          # of both
set(alone_found "")
set(alone_missing "")
foreach(name IN LISTS alone_archives)
  if(name STREQUAL gcc_eh)
    list(APPEND alone_found -lgcc_eh)
    continue()
  endif()
  find_library(MPIACQ_ARCHIVE_${name} lib${name}.a)
  mark_as_advanced(MPIACQ_ARCHIVE_${name})
  if(MPIACQ_ARCHIVE_${name})
    list(APPEND alone_found ${MPIACQ_ARCHIVE_${name}})
  else()
    list(APPEND alone_missing lib${name}.a)
  endif()
endforeach()

set(alone_link_options -static-libstdc++ -static-libgcc -Wl,--gc-sections)
if(MPIACQ_SANITIZE OR MPIACQ_SANITIZE_THREADS)
  # Their runtime is a shared library itself.
elseif(alone_missing)
  list(JOIN alone_missing ", " alone_missing)
  message(STATUS "The agent needs shared libraries on its nodes: there is no ${alone_missing} here")
else()
  set(alone_log ${PROJECT_BINARY_DIR}/alone.log)
  if(NOT DEFINED MPIACQ_ALONE_LINKS)
    try_compile(MPIACQ_ALONE_LINKS ${PROJECT_BINARY_DIR}/alone
      SOURCES ${alone_folder}/try.cpp ${alone_folder}/fmt_in_file.cpp ${alone_folder}/no_kerberos.cpp
      COMPILE_DEFINITIONS -fkeep-inline-functions
      LINK_OPTIONS -no-pie ${alone_link_options} LINK_LIBRARIES ${alone_found} ${CMAKE_DL_LIBS} Threads::Threads
      CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON
      OUTPUT_VARIABLE said)
    file(WRITE ${alone_log} "${said}")
  endif()
  set(MPIACQ_ALONE ${MPIACQ_ALONE_LINKS})
  if(NOT MPIACQ_ALONE)
    message(STATUS "The agent needs shared libraries on its nodes: their archives cannot be linked here (${alone_log})")
  endif()
endif()

if(MPIACQ_ALONE)
  add_library(mpiacq_alone_objects OBJECT ${alone_folder}/fmt_in_file.cpp ${alone_folder}/no_kerberos.cpp)
  target_compile_features(mpiacq_alone_objects PRIVATE cxx_std_20)
  target_compile_options(mpiacq_alone_objects PRIVATE -fkeep-inline-functions -ffunction-sections)
  add_library(mpiacq_alone INTERFACE)
  target_link_options(mpiacq_alone INTERFACE ${alone_link_options})
  target_link_libraries(mpiacq_alone INTERFACE
    $<TARGET_OBJECTS:mpiacq_alone_objects> ${alone_found} Threads::Threads ${CMAKE_DL_LIBS})
endif()
