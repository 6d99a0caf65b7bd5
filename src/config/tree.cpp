#include "config/tree.hpp"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <sstream>

#include "idem/text/ascii.hpp"
#include "idem/text/utf8.hpp"

namespace idem::config {
namespace {

class tree_builder final : public YAML::EventHandler {
 public:
  explicit tree_builder(report& out) : out_(out) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add(make(tree_node::kind::null, mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    out_.error(at(mark), no_anchors);
    add(make(tree_node::kind::null, mark));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    tree_node node = make(tree_node::kind::scalar, mark);
    node.text = value;
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(tree_node::kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(tree_node::kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

  std::optional<tree_node> take() { return std::move(root_); }

 private:
  struct frame {
    tree_node node;
    std::optional<tree_node> key;  ///< of a map: the key that waits for its value
  };

  static constexpr const char* no_anchors =
      "anchors and aliases are not supported, repeat the value or put it into `defaults`";

  static place at(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1, {}}; }

  static tree_node make(tree_node::kind type, const YAML::Mark& mark) {
    tree_node node;
    node.type = type;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) out_.error(at(mark), no_anchors);
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    const bool usual = tag.empty() || tag == "?" || tag == "!" || tag.starts_with("tag:yaml.org,2002:");
    if (!usual) out_.error(at(mark), "the tag " + quoted(tag) + " is not supported, write the value without it");
  }

  void open(tree_node::kind type, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    stack_.push_back({make(type, mark), std::nullopt});
  }

  void close() {
    tree_node node = std::move(stack_.back().node);
    stack_.pop_back();
    add(std::move(node));
  }

  void add(tree_node node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    frame& top = stack_.back();
    if (top.node.type == tree_node::kind::list) {
      top.node.items.push_back(std::move(node));
    } else if (!top.key) {
      top.key = std::move(node);
    } else {
      add_entry(top, std::move(node));
    }
  }

  void add_entry(frame& top, tree_node value) {
    tree_node key = std::move(*top.key);
    top.key.reset();
    if (key.type != tree_node::kind::scalar) {
      out_.error({key.line, key.column, {}}, "a key must be a word");
      return;
    }
    // the parser gives an empty value the position of whatever comes next, which may be lines below
    if (value.type == tree_node::kind::null && value.line != key.line) {
      value.line = key.line;
      value.column = key.column;
    }
    top.node.entries.push_back({std::move(key.text), key.line, key.column, std::move(value)});
  }

  report& out_;
  std::vector<frame> stack_;
  std::optional<tree_node> root_;
};

std::string syntax_message(const YAML::Exception& e, std::string_view text) {
  if (dynamic_cast<const YAML::DeepRecursion*>(&e)) return "lists and maps are nested too deeply";
  std::string message = "not valid YAML: " + e.msg;
  if (e.msg.find("flow") != std::string::npos) {
    message += " (inside of [ ] and { } a value with braces is written in quotes)";
  } else if (text.find("\n\t") != std::string_view::npos) {
    message += " (a line begins with a tab; YAML is indented with spaces)";
  }
  return message;
}

/// Offset of the first byte that does not belong to well-formed UTF-8 or is a control character other than tab, line
/// feed and carriage return; npos if there is none.
std::size_t first_unreadable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto [length, valid] = text::first_sequence(text.substr(at));
    const char c = text[at];
    if (!valid || (text::is_control(c) && c != '\t' && c != '\n' && c != '\r')) return at;
    at += length;
  }
  return std::string_view::npos;
}

bool check_bytes(std::string_view text, report& out) {
  const std::size_t bad = first_unreadable(text);
  if (bad == std::string_view::npos) return true;
  int line = 1, column = 1;
  for (char c : text.substr(0, bad)) {
    ++column;
    if (c == '\n') ++line, column = 1;
  }
  out.error({line, column, {}}, "a byte that is no text, expected UTF-8 without control characters");
  return false;
}

}  // namespace

std::optional<tree_node> parse_tree(std::string_view text, report& out) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (!check_bytes(text, out)) return std::nullopt;
  tree_builder builder(out);
  std::istringstream in{std::string(text)};
  try {
    YAML::Parser parser(in);
    if (!parser.HandleNextDocument(builder)) {
      out.error({1, 1, {}}, "the file is empty, expected at least upstream.url");
      return std::nullopt;
    }
    auto root = builder.take();
    tree_builder second(out);
    if (parser.HandleNextDocument(second)) {
      const auto more = second.take();
      out.error({more ? more->line : 1, more ? more->column : 1, {}},
                "a second YAML document, expected one document per file");
      return std::nullopt;
    }
    return root;
  } catch (const YAML::Exception& e) {
    const bool known = e.mark.line >= 0;
    out.error({known ? e.mark.line + 1 : 1, known ? e.mark.column + 1 : 1, {}}, syntax_message(e, text));
    return std::nullopt;
  }
}

}  // namespace idem::config
