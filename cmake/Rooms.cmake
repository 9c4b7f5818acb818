# Each room is one target. A room sees include/mpiacq, its own folder, lib/base and the rooms that it names as BELOW: a
# wrong include does not compile. scripts/check-rooms knows the order of the rooms.

# For what must not run with sanitizers: the same but those.
add_library(mpiacq_plain_flags INTERFACE)
target_compile_features(mpiacq_plain_flags INTERFACE cxx_std_20)
target_compile_options(mpiacq_plain_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wcast-align
  $<$<BOOL:${MPIACQ_WERROR}>:-Werror>)

# A target whose property MPIACQ_ASAN_ALONE is set has no UBSan: the test programs, not what they test. It is nearly half of
# what compiling them costs.
# One process cannot have both.
if(MPIACQ_SANITIZE AND MPIACQ_SANITIZE_THREADS)
  message(FATAL_ERROR "MPIACQ_SANITIZE and MPIACQ_SANITIZE_THREADS exclude each other")
endif()
set(mpiacq_sanitizer_link "")
if(MPIACQ_SANITIZE)
  set(mpiacq_sanitizer_link -fsanitize=address,undefined)
elseif(MPIACQ_SANITIZE_THREADS)
  set(mpiacq_sanitizer_link -fsanitize=thread)
endif()
add_library(mpiacq_sanitizers INTERFACE)
set(mpiacq_with_ubsan $<$<NOT:$<BOOL:$<TARGET_PROPERTY:MPIACQ_ASAN_ALONE>>>:,undefined>)
target_compile_options(mpiacq_sanitizers INTERFACE
  $<$<BOOL:${MPIACQ_SANITIZE}>:-fsanitize=address${mpiacq_with_ubsan} -fno-sanitize-recover=all -fno-omit-frame-pointer>
  # With sanitizers GCC sees uninitialised members inside the standard library's own headers (its manual says so).
  $<$<AND:$<OR:$<BOOL:${MPIACQ_SANITIZE}>,$<BOOL:${MPIACQ_SANITIZE_THREADS}>>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>
  # GCC warns that ThreadSanitizer does not understand the fences inside the standard library.
  $<$<BOOL:${MPIACQ_SANITIZE_THREADS}>:-fsanitize=thread -fno-omit-frame-pointer>
  $<$<AND:$<BOOL:${MPIACQ_SANITIZE_THREADS}>,$<CXX_COMPILER_ID:GNU>>:-Wno-tsan>)

add_library(mpiacq_flags INTERFACE)
target_link_libraries(mpiacq_flags INTERFACE mpiacq_plain_flags mpiacq_sanitizers)
target_link_options(mpiacq_flags INTERFACE
  ${mpiacq_sanitizer_link} $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${MPIACQ_PROGRAM_LINK_OPTIONS}>)

# Only clang links the sanitizer's variables into each program.
if(MPIACQ_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_library(mpiacq_asan_large_pages OBJECT ${PROJECT_SOURCE_DIR}/tests/support/asan_large_pages.cpp)
  target_link_libraries(mpiacq_asan_large_pages PRIVATE mpiacq_plain_flags)
  target_sources(mpiacq_flags INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:$<TARGET_OBJECTS:mpiacq_asan_large_pages>>)
endif()

# The public API as a target: the include folder, and what the headers themselves need.
add_library(mpiacq_api INTERFACE)
target_include_directories(mpiacq_api INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(mpiacq_api INTERFACE cxx_std_20)

# mpiacq_one_file(TARGET): what MPIACQ_UNITY asks for. All sources together, not some at a time: names that two of them
# have are then seen on every machine, whatever is added.
function(mpiacq_one_file target)
  if(MPIACQ_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    # It is one file with an anonymous namespace of its own then.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# mpiacq_room(NAME SOURCES file... [BELOW room...] [PRIVATE_LIBRARIES target...])
# BELOW: rooms under this one whose private headers it includes, beside those of lib/base. An object library mpiacq_room_NAME; all rooms together become the one library `mpiacq`.
function(mpiacq_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;BELOW;PRIVATE_LIBRARIES" ${ARGN})
  set(room mpiacq_room_${name})
  add_library(${room} OBJECT ${ROOM_SOURCES})
  set_target_properties(${room} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  mpiacq_one_file(${room})
  target_include_directories(${room} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/lib/base)
  foreach(below IN LISTS ROOM_BELOW)
    target_include_directories(${room} PRIVATE ${PROJECT_SOURCE_DIR}/lib/${below})
  endforeach()
  target_link_libraries(${room} PRIVATE mpiacq_flags mpiacq_api tl::expected ${ROOM_PRIVATE_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY MPIACQ_ROOMS ${room})
endfunction()
