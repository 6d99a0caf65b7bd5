// Checks of PEM files at load time, so that a wrong file is a finding and not a failed handshake.
#pragma once

#include <string>
#include <string_view>

#include "config/report.hpp"

namespace idem::config {

/// What a key of the configuration that names such a file expects.
inline constexpr std::string_view pem_file = "the path of a PEM file";

/// A certificate (chain) and its private key: readable, well-formed, not encrypted, made for each other. A certificate
/// that is out of its time is a warning. Of a pair that is not whole the one file is checked.
struct key_pair_files {
  place certificate_at, key_at;
  std::string certificate, key;
};
void check_key_pair(report& out, const key_pair_files& files);

/// A bundle of at least one certificate, whole to its end.
void check_ca_file(report& out, const place& at, const std::string& path);

}  // namespace idem::config
