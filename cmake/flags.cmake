# Flags that hold for every target.
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

# What a fault in memory can be made to do is made less. The checks of the standard library hold in every build, so that
# tests and sanitizers meet them first.
target_compile_definitions(idem_flags INTERFACE _GLIBCXX_ASSERTIONS)
target_compile_options(idem_flags INTERFACE -fPIE)
target_link_options(idem_flags INTERFACE -pie)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(idem_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong)
  target_link_options(idem_flags INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # ccache can reuse objects that were made with a precompiled header only if the header carries no time stamp
  target_compile_options(idem_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()

# Release builds are laid out by what a load has been seen to run (scripts/profile.sh). Code that has changed since is
# compiled as without a profile, so an old one costs speed only; that is no reason to warn.
if(NOT IDEM_PROFILE MATCHES "^(use|generate|none)$")
  message(FATAL_ERROR "IDEM_PROFILE is \"${IDEM_PROFILE}\"; expected use, generate or none")
endif()
set(IDEM_PROFILED OFF)
set(IDEM_PROFILE_FLAGS "")  # of the program's own code; tests are not worth it
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT IDEM_SANITIZE)
  if(IDEM_PROFILE STREQUAL "use" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 19)
    set(IDEM_PROFILED ON)
    # a name that changes with the content, for compilers do not report the profile as something that objects depend on
    set(profile ${CMAKE_SOURCE_DIR}/cmake/release.profdata)
    set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${profile})
    file(SHA256 ${profile} hash)
    string(SUBSTRING ${hash} 0 12 hash)
    configure_file(${profile} ${CMAKE_BINARY_DIR}/profile/${hash}.profdata COPYONLY)
    set(IDEM_PROFILE_FLAGS -fprofile-use=${CMAKE_BINARY_DIR}/profile/${hash}.profdata
      -Wno-backend-plugin -Wno-profile-instr-out-of-date -Wno-profile-instr-unprofiled)
  elseif(IDEM_PROFILE STREQUAL "generate")
    set(IDEM_PROFILE_FLAGS -fprofile-generate)
    target_link_options(idem_flags INTERFACE -fprofile-generate)
  endif()
endif()

# lld places functions that call each other side by side when there is a profile; mold, the faster linker, does not.
find_program(IDEM_MOLD mold)
find_program(IDEM_LLD NAMES ld.lld ld.lld-19 HINTS /usr/lib/llvm-19/bin)
if(IDEM_MOLD AND NOT (IDEM_PROFILED AND IDEM_LLD))
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
target_compile_options(idem_pch PRIVATE ${IDEM_PROFILE_FLAGS})
target_precompile_headers(idem_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.hpp)
