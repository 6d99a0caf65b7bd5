# idem_module(NAME USES modules... LINK libs...): the library idem_NAME of src/NAME/*.cpp. It may include what it USES and
# nothing else of the project: all modules share one folder of headers, so that is looked up when the build is configured.
# Its test program is NAME_test of tests/unit/NAME/*.cpp (see tests/CMakeLists.txt).
function(idem_module name)
  cmake_parse_arguments(arg "" "" "USES;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp ${CMAKE_SOURCE_DIR}/src/${name}/*/*.cpp)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.hpp ${CMAKE_SOURCE_DIR}/src/${name}/*/*.hpp
    ${CMAKE_SOURCE_DIR}/include/idem/${name}/*.hpp)
  idem_check_includes(${name} "${arg_USES}" ${sources} ${headers})
  add_library(idem_${name} STATIC ${sources})
  target_include_directories(idem_${name} PUBLIC ${CMAKE_SOURCE_DIR}/include PRIVATE ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM arg_USES PREPEND idem_)
  target_link_libraries(idem_${name} PUBLIC idem_flags ${arg_USES} ${arg_LINK} PRIVATE idem_pch)
  target_compile_options(idem_${name} PRIVATE ${IDEM_PROFILE_FLAGS})
  target_precompile_headers(idem_${name} REUSE_FROM idem_pch)
endfunction()

function(idem_check_includes name uses)
  foreach(file IN LISTS ARGN)
    file(STRINGS ${file} lines REGEX "^#include \"(idem/)?[a-z]+/")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include \"(idem/)?([a-z]+)/.*" "\\2" other "${line}")
      if(NOT other STREQUAL name AND NOT other IN_LIST uses)
        message(FATAL_ERROR "${file} has ${line}, but the module ${name} does not use ${other} (CMakeLists.txt)")
      endif()
    endforeach()
  endforeach()
endfunction()
