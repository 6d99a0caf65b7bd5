# Flags that hold for every target. The linker is mold where it is installed, else lld.
add_library(idem_flags INTERFACE)
target_compile_features(idem_flags INTERFACE cxx_std_20)
target_compile_options(idem_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wconversion -Wno-sign-conversion
  -Wimplicit-fallthrough -Wno-missing-field-initializers)
target_compile_definitions(idem_flags INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION
  BOOST_ASIO_NO_DEPRECATED
  BOOST_BEAST_SEPARATE_COMPILATION
  BOOST_ASIO_DISABLE_BOOST_COROUTINE
  SPDLOG_ACTIVE_LEVEL=SPDLOG_LEVEL_DEBUG
  # Asio keeps two blocks of its operations for reuse unless told otherwise. Only in release builds: sanitizers should
  # see every one go.
  $<$<CONFIG:Release>:BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE=16>)

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # ccache can reuse objects that were made with a precompiled header only if the header carries no time stamp
  target_compile_options(idem_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()

find_program(IDEM_MOLD mold)
if(IDEM_MOLD)
  target_link_options(idem_flags INTERFACE -fuse-ld=mold)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_link_options(idem_flags INTERFACE -fuse-ld=lld)
endif()

if(IDEM_SANITIZE)
  target_compile_options(idem_flags INTERFACE -fsanitize=${IDEM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(idem_flags INTERFACE -fsanitize=${IDEM_SANITIZE})
endif()

find_program(IDEM_CCACHE ccache)
if(IDEM_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${IDEM_CCACHE})
endif()

# One precompiled header for all: Asio, Beast and the standard library are most of what a translation unit reads.
add_library(idem_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/asio_impl.cpp)
find_package(Boost 1.81 EXACT REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
target_link_libraries(idem_pch PUBLIC idem_flags Boost::headers OpenSSL::SSL OpenSSL::Crypto)
target_precompile_headers(idem_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.hpp)
