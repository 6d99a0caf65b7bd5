#include "idempotency/xml_lookup.hpp"

#include <expat.h>

#include <algorithm>
#include <vector>

#include "idem/memory/freed_by.hpp"

namespace idem::idempotency {
namespace {

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> names;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    names.push_back(path.substr(0, path.find('/')));
    path.remove_prefix(names.back().size());
  }
  if (!path.empty()) names.clear();
  return names;
}

class path_search {
 public:
  path_search(XML_Parser parser, std::vector<std::string_view> path) : parser_(parser), path_(std::move(path)) {
    XML_SetUserData(parser, this);
    XML_SetElementHandler(parser, &on_start, &on_end);
    XML_SetCharacterDataHandler(parser, &on_text);
    XML_SetStartDoctypeDeclHandler(parser, &on_doctype);
  }

  lookup_result result() && { return std::move(result_); }

 private:
  static path_search& self(void* data) { return *static_cast<path_search*>(data); }
  static void XMLCALL on_start(void* data, const XML_Char* name, const XML_Char**) { self(data).start(name); }
  static void XMLCALL on_end(void* data, const XML_Char*) { self(data).end(); }
  static void XMLCALL on_text(void* data, const XML_Char* text, int size) {
    self(data).text({text, static_cast<std::size_t>(size)});
  }
  // nothing that a DTD can do is needed, and much of it is dangerous: expansion, external files
  static void XMLCALL on_doctype(void* data, const XML_Char*, const XML_Char*, const XML_Char*, int) {
    XML_StopParser(self(data).parser_, XML_FALSE);
  }

  bool at_path() const { return depth_ == path_.size() && matched_ == depth_; }

  void start(std::string_view name) {
    if (at_path()) has_elements_ = true;
    if (matched_ == depth_ && depth_ < path_.size() && path_[depth_] == name) ++matched_;
    if (++depth_ > max_xml_depth) XML_StopParser(parser_, XML_FALSE);
    if (!at_path()) return;
    text_.clear();
    has_elements_ = false;
    if (seen_) result_.result = lookup::ambiguous;
    seen_ = true;
  }

  void text(std::string_view piece) {
    if (at_path()) text_ += piece;
  }

  void end() {
    if (at_path() && !has_elements_ && result_.result == lookup::absent) {
      result_.result = lookup::found;
      result_.value = without_space_around(text_);
    }
    --depth_;
    matched_ = std::min(matched_, depth_);
  }

  static std::string_view without_space_around(std::string_view text) {
    constexpr std::string_view space = " \t\r\n";
    const std::size_t first = text.find_first_not_of(space);
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(space) + 1 - first);
  }

  XML_Parser parser_;
  std::vector<std::string_view> path_;
  std::size_t depth_ = 0;    // elements that are open
  std::size_t matched_ = 0;  // how many of them, from the root, are the path's
  bool seen_ = false;
  bool has_elements_ = false;
  std::string text_;
  lookup_result result_;
};

}  // namespace

lookup_result find_in_xml(std::string_view text, std::string_view path) {
  auto names = split_path(path);
  // expat counts in int, and no route buffers that much
  if (names.empty() || text.size() > (1u << 30)) return {};
  const memory::owned_by_c<XML_ParserStruct, XML_ParserFree> parser(XML_ParserCreate(nullptr));
  if (!parser) return {};
  path_search search(parser.get(), std::move(names));
  if (XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), XML_TRUE) != XML_STATUS_OK) return {};
  return std::move(search).result();
}

}  // namespace idem::idempotency
