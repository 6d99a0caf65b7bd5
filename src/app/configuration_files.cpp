#include "app/configuration_files.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "idem/memory/freed_by.hpp"

namespace idem::app {
namespace {

std::string digest_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const memory::owned_by_c<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  if (!in || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) return {};
  std::array<char, 16 * 1024> piece;
  do {
    in.read(piece.data(), piece.size());
    EVP_DigestUpdate(context.get(), piece.data(), static_cast<std::size_t>(in.gcount()));
  } while (in);
  if (in.bad()) return {};
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_DigestFinal_ex(context.get(), digest.data(), &size);
  return {digest.begin(), digest.begin() + size};
}

/// A pipe waits for another writer, and a device might never end.
bool is_regular(const std::string& file) {
  std::error_code ec;
  return std::filesystem::is_regular_file(file, ec);
}

/// What a pipe held is gone when it was read, and who reads it again waits for another writer.
bool is_pipe(const std::string& file) {
  std::error_code ec;
  return std::filesystem::is_fifo(file, ec);
}

}  // namespace

file_digests digests_of(const std::vector<std::string>& files) {
  file_digests all;
  for (const auto& f : files) all.emplace(f, is_regular(f) ? digest_of(f) : std::string());
  return all;
}

std::vector<std::string> paths_of(const file_digests& files) {
  std::vector<std::string> all;
  for (const auto& [path, digest] : files) all.push_back(path);
  return all;
}

/// Files that are named for the first time have no digest from before the reading, so all is read once more; not from a
/// pipe. Where there are faults, what was known stays known: a file that is no YAML names nothing.
reading read_configuration(const std::string& file, std::vector<std::string> known, const config::snapshot* running) {
  known.push_back(file);
  for (;;) {
    auto seen = digests_of(known);
    auto loaded = config::load_file(file, running);
    auto named = loaded.files;
    named.push_back(file);
    if (is_pipe(file)) seen.merge(digests_of(named));
    const bool all_seen = std::ranges::all_of(named, [&](const auto& f) { return seen.contains(f); });
    if (all_seen) {
      const auto unnamed = [&](const auto& s) { return std::ranges::find(named, s.first) == named.end(); };
      if (loaded.ok()) std::erase_if(seen, unnamed);
      return {std::move(loaded), std::move(seen)};
    }
    known.insert(known.end(), named.begin(), named.end());
  }
}

}  // namespace idem::app
