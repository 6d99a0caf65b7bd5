# idem_module(NAME LINK libs...): the library idem_NAME of src/NAME/*.cpp, and, when there are any,
# the test program NAME_test of tests/unit/NAME/*.cpp (see tests/CMakeLists.txt).
function(idem_module name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp ${CMAKE_SOURCE_DIR}/src/${name}/*/*.cpp)
  if(NOT sources)
    file(WRITE ${CMAKE_BINARY_DIR}/empty_${name}.cpp "")
    set(sources ${CMAKE_BINARY_DIR}/empty_${name}.cpp)
  endif()
  add_library(idem_${name} STATIC ${sources})
  target_include_directories(idem_${name} PUBLIC ${CMAKE_SOURCE_DIR}/include PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(idem_${name} PUBLIC idem_flags ${arg_LINK} PRIVATE idem_pch)
  target_precompile_headers(idem_${name} REUSE_FROM idem_pch)
endfunction()
