// Messages and bodies as they come in practice.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace idem::bench {

inline constexpr std::string_view uuid = "5f0c2f4e-9a1b-4c7d-8e3f-0a1b2c3d4e5f";

/// A POST with eight fields, JSON and a key.
std::string small_request_head();
/// The same behind browsers, gateways and tracers: forty fields.
std::string large_request_head();
/// A 201 with eight fields.
std::string response_head();

/// About `size` bytes each.
std::string json_body(std::size_t size);
std::string form_body(std::size_t size);
std::string multipart_body(std::size_t size);
inline constexpr std::string_view multipart_type =
    "multipart/form-data; boundary=------------------------d74496d66958873e";

/// `body` in chunks of `size` bytes.
std::string chunked(std::string_view body, std::size_t size);

}  // namespace idem::bench
