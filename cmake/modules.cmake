# idem_module(NAME USES modules... LINK libs...): the library idem_NAME of src/NAME/*.cpp. It may include what it USES and
# nothing else of the project: all modules share one folder of headers, so check_includes.cmake looks that up in each build
# that follows a change of the module's files.
# Its test program is NAME_test of tests/unit/NAME/*.cpp (see tests/CMakeLists.txt).
function(idem_module name)
  cmake_parse_arguments(arg "" "" "USES;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp ${CMAKE_SOURCE_DIR}/src/${name}/*/*.cpp)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.hpp ${CMAKE_SOURCE_DIR}/src/${name}/*/*.hpp
    ${CMAKE_SOURCE_DIR}/include/idem/${name}/*.hpp)

  set(checked ${CMAKE_BINARY_DIR}/includes/${name})
  list(JOIN arg_USES "," uses)
  add_custom_command(OUTPUT ${checked}
    COMMAND ${CMAKE_COMMAND} -DMODULE=${name} -DUSES=${uses} -DROOT=${CMAKE_SOURCE_DIR} -DSTAMP=${checked}
      -P ${CMAKE_SOURCE_DIR}/cmake/check_includes.cmake
    DEPENDS ${sources} ${headers} ${CMAKE_SOURCE_DIR}/cmake/check_includes.cmake
    COMMENT "Checking what ${name} includes" VERBATIM)
  add_custom_target(idem_${name}_includes DEPENDS ${checked})  # of its own, so that no library's objects wait for another's

  add_library(idem_${name} STATIC ${sources})
  add_dependencies(idem_${name} idem_${name}_includes)
  target_include_directories(idem_${name} PUBLIC ${CMAKE_SOURCE_DIR}/include PRIVATE ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM arg_USES PREPEND idem_)
  target_link_libraries(idem_${name} PUBLIC idem_flags ${arg_USES} ${arg_LINK} PRIVATE idem_pch)
  target_compile_options(idem_${name} PRIVATE ${IDEM_PROFILE_FLAGS})
  target_precompile_headers(idem_${name} REUSE_FROM idem_pch)
endfunction()
