// Certificates for tests: a CA of a day, and a server's certificate of it.
#pragma once

#include <string>

#include "support/temporary_folder.hpp"

namespace idem::test {

/// Paths of PEM files.
struct certificates {
  std::string ca, certificate, key;
};

/// Makes a CA and a certificate of it for one DNS name, in `folder`.
/// @param name a short word that the file names begin with, so that a folder can hold several
certificates make_certificates(const temporary_folder& folder, const std::string& dns_name,
                               const std::string& name = "server");

}  // namespace idem::test
