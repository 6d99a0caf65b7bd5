#include "store/redis/resp_reader.hpp"

#include <hiredis/read.h>

#include <new>
#include <utility>

#include "idem/memory/block_pool.hpp"

namespace idem::store::redis {

// The reader builds its objects through these. Children live inside their parent, the outermost is root_.
struct resp_reader::hooks {
  static void* make_string(const redisReadTask* task, char* text, std::size_t size) {
    // hiredis skips the two bytes behind a bulk string unseen; if they are no line end, all that follows is misread
    if (task->type == REDIS_REPLY_STRING && (text[size] != '\r' || text[size + 1] != '\n')) return nullptr;
    auto* v = place(task);
    v->type = task->type == REDIS_REPLY_ERROR    ? resp_type::error
              : task->type == REDIS_REPLY_STATUS ? resp_type::status
                                                 : resp_type::text;
    // what stands in an array is short as a rule, and goes with it
    if (!task->parent && size > v->text.capacity()) v->text = idem::memory::take_string();
    v->text.assign(text, size);
    return v;
  }
  static void* make_array(const redisReadTask* task, int size) {
    if (size < 0 || static_cast<std::size_t>(size) > max_items) return nullptr;
    auto* v = place(task);
    v->type = resp_type::array;
    v->items.resize(static_cast<std::size_t>(size));
    return v;
  }
  static void* make_integer(const redisReadTask* task, long long n) {
    auto* v = place(task);
    v->type = resp_type::integer;
    v->integer = n;
    return v;
  }
  static void* make_nil(const redisReadTask* task) { return place(task); }
  static void release(void*) {}

  static redisReplyObjectFunctions* table() {
    static redisReplyObjectFunctions functions{make_string, make_array, make_integer, make_nil, release};
    return &functions;
  }
};

resp_value* resp_reader::place(const redisReadTask* task) {
  auto* v = task->parent ? &static_cast<resp_value*>(task->parent->obj)->items[static_cast<std::size_t>(task->idx)]
                         : &static_cast<resp_reader*>(task->privdata)->root_;
  // what it had room for is used again
  v->type = resp_type::nil;
  v->text.clear();
  v->integer = 0;
  v->items.clear();
  return v;
}

resp_reader::resp_reader() : reader_(redisReaderCreateWithFunctions(hooks::table()), &redisReaderFree) {
  if (!reader_) throw std::bad_alloc();
  reader_->privdata = this;
}

resp_reader::~resp_reader() = default;

void resp_reader::feed(std::string_view bytes) {
  if (!broken_ && redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) broken_ = true;
}

resp_reader::result resp_reader::next(resp_value& out) {
  if (broken_) return result::broken;
  void* reply = nullptr;
  if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) broken_ = true;
  if (broken_) return result::broken;
  if (reply) {
    std::swap(out, root_);
    return result::value;
  }
  broken_ = !within_bounds();
  return broken_ ? result::broken : result::need_more;
}

// What is buffered without being a reply yet: a value up to its bound, anything else is at most a line.
bool resp_reader::within_bounds() const {
  const auto& r = *reader_;
  const std::size_t waiting = r.len - r.pos;
  const bool in_text = r.ridx >= 0 && r.rstack[r.ridx].type == REDIS_REPLY_STRING;
  return waiting <= (in_text ? max_value + 64 : max_line);
}

}  // namespace idem::store::redis
