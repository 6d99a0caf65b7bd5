// Raw requests on which implementations differ, with what this one has to make of them.
#include <gtest/gtest.h>

#include "unit/http/conversation.hpp"

namespace idem::http::testing {
namespace {

using namespace std::string_view_literals;

struct vector {
  std::string_view name;
  std::string_view raw;
  std::string_view understood;
};

constexpr vector vectors[] = {
    {"cl before te", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"sv,
     "400"},
    {"te before cl", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"sv,
     "400"},
    {"te gzip before cl", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nContent-Length: 5\r\n\r\nHELLO"sv,
     "400"},
    {"cl before te gzip", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: gzip\r\n\r\nHELLO"sv,
     "400"},
    {"te gzip only", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nGET /x HTTP/1.1\r\n\r\n"sv, "400"},
    {"te identity", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\nGET /x HTTP/1.1\r\n\r\n"sv,
     "400"},
    {"te chunked,gzip",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\nGET /x HTTP/1.1\r\n\r\n"sv, "400"},
    {"te gzip,chunked", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"sv, "501"},
    {"te chunked twice",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"sv,
     "400"},
    {"te chunked,identity 2lines",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"sv,
     "400"},
    {"te xchunked", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"sv, "400"},
    {"te vt chunked", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \013chunked\r\n\r\n0\r\n\r\n"sv, "400"},
    {"te tab", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\tchunked\t\r\n\r\n0\r\n\r\n"sv, "POST / chunked = "},
    {"te quoted", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"sv, "400"},
    {"te params", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n"sv, "400"},
    {"te empty", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\nContent-Length: 5\r\n\r\nHELLO"sv, "400"},
    {"te obsfold", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"sv, "400"},
    {"http10 te", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"sv, "400"},
    {"dup cl diff", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nHELLO"sv, "400"},
    {"cl list diff", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 6\r\n\r\nHELLO"sv, "400"},
    {"cl plus", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nHELLO"sv, "400"},
    {"cl neg", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\nHELLO"sv, "400"},
    {"cl hex", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\nHELLO"sv, "400"},
    {"cl space", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5 \r\n\r\nHELLO"sv, "POST / length 5 = HELLO"},
    {"cl inner space", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1 5\r\n\r\nHELLO"sv, "400"},
    {"cl overflow", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551617\r\n\r\nHELLO"sv, "400"},
    {"cl maxu64", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\nHELLO"sv, "400"},
    {"cl leading zeros", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0005\r\n\r\nHELLO"sv, "400"},
    {"cl underscore name", "POST / HTTP/1.1\r\nHost: a\r\nContent_Length: 5\r\n\r\nHELLO"sv, "400"},
    {"get with cl", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nHELLO"sv, "GET / length 5 = HELLO"},
    {"post no len", "POST / HTTP/1.1\r\nHost: a\r\n\r\nHELLO"sv, "POST / none + HELLO"},
    {"bare lf field", "GET / HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n"sv, "400"},
    {"bare cr in value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n"sv, "400"},
    {"nul in value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\000b\r\n\r\n"sv, "400"},
    {"high byte value", "GET / HTTP/1.1\r\nHost: a\r\nX: caf\303\251\r\n\r\n"sv, "GET / none"},
    {"ctl 01 value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\001b\r\n\r\n"sv, "400"},
    {"obs fold first", "GET / HTTP/1.1\r\n X: a\r\nHost: a\r\n\r\n"sv, "400"},
    {"space before colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n"sv, "400"},
    {"empty name", "GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n"sv, "400"},
    {"trailing ows", "GET / HTTP/1.1\r\nHost: a\r\nX:   a \t \r\n\r\n"sv, "GET / none"},
    {"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"sv, "400"},
    {"empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n"sv, "400"},
    {"leading crlf", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"sv, "GET / none"},
    {"leading crlf2", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"sv, "GET / none"},
    {"double sp line", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"sv, "400"},
    {"trailing sp line", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"sv, "400"},
    {"sp in target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"sv, "400"},
    {"http12", "GET / HTTP/1.2\r\nHost: a\r\n\r\n"sv, "505"},
    {"h2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"sv, "505"},
    {"http lower", "GET / http/1.1\r\nHost: a\r\n\r\n"sv, "400"},
    {"http11 before 1", "GET / HTTP/1.10\r\nHost: a\r\n\r\n"sv, "400"},
    {"bad method", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n"sv, "400"},
    {"absolute", "GET http://b.example/x HTTP/1.1\r\nHost: a\r\n\r\n"sv, "GET http://b.example/x none"},
    {"authority", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\nTUNNEL"sv, "405"},
    {"fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"sv, "400"},
    {"nul target", "GET /a\000b HTTP/1.1\r\nHost: a\r\n\r\n"sv, "400"},
    {"del target", "GET /\177 HTTP/1.1\r\nHost: a\r\n\r\n"sv, "400"},
    {"tls hello", "\026\003\001\002\000\001"sv, "400"},
    {"proxy v1", "PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"sv, "400"},
    {"conn close", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close, x-foo\r\n\r\n"sv, "GET / none close"},
    {"conn bad token", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close;x=1\r\n\r\n"sv, "400"},
    {"conn bad2", "GET / HTTP/1.1\r\nHost: a\r\nConnection: \"close\"\r\n\r\n"sv, "400"},
    {"conn empty", "GET / HTTP/1.1\r\nHost: a\r\nConnection:\r\n\r\n"sv, "GET / none"},
    {"proxy conn", "GET / HTTP/1.1\r\nHost: a\r\nProxy-Connection: close\r\n\r\n"sv, "GET / none"},
    {"http10", "GET / HTTP/1.0\r\n\r\n"sv, "GET / none close"},
    {"http10 ka", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"sv, "GET / none"},
    {"upgrade", "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"sv,
     "GET /ws none upgrade"},
    {"chunk ok", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\n0\r\n\r\n"sv,
     "POST / chunked = HELLO"},
    {"chunk upper hex",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n"sv,
     "POST / chunked = 0123456789"},
    {"chunk ext bareLF", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a\nHELLO\r\n0\r\n\r\n"sv,
     "POST / chunked =  ! a chunk extension holds a control byte"},
    {"chunk ext junk",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;\001\002\r\nHELLO\r\n0\r\n\r\n"sv,
     "POST / chunked =  ! a chunk extension holds a control byte"},
    {"chunk trailing sp", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5 \r\nHELLO\r\n0\r\n\r\n"sv,
     "POST / chunked =  ! a chunk size is not hexadecimal"},
    {"chunk plus", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nHELLO\r\n0\r\n\r\n"sv,
     "POST / chunked =  ! a chunk size is missing or not hexadecimal"},
    {"chunk neg", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nHELLO\r\n0\r\n\r\n"sv,
     "POST / chunked =  ! a chunk size is missing or not hexadecimal"},
    {"chunk empty size", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\nHELLO\r\n0\r\n\r\n"sv,
     "POST / chunked =  ! a chunk size is missing or not hexadecimal"},
    {"chunk overflow",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000005\r\nHELLO\r\n0\r\n\r\n"sv,
     "POST / chunked =  ! a chunk size has too many digits"},
    {"chunk lead zeros",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0000000000000000000005\r\nHELLO\r\n0\r\n\r\n"sv,
     "POST / chunked =  ! a chunk size has too many digits"},
    {"chunk bare lf", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\nHELLO\n0\n\n"sv,
     "POST / chunked =  ! a chunk size ends with a bare line feed"},
    {"chunk data no crlf", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLOXX0\r\n\r\n"sv,
     "POST / chunked = HELLO ! chunk data is not followed by CRLF"},
    {"chunk data lf", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\n0\r\n\r\n"sv,
     "POST / chunked = HELLO ! chunk data is not followed by CRLF"},
    {"chunk trailer",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\n0\r\nX-T: 1\r\n\r\n"sv,
     "POST / chunked = HELLO [X-T: 1\r\n]"},
    {"chunk trailer cl",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\n0\r\nContent-Length: 9\r\n\r\n"sv,
     "POST / chunked = HELLO"},
    {"chunk trailer te",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n"sv,
     "POST / chunked = HELLO"},
    {"chunk trailer host",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\n0\r\nHost: evil\r\nIdempotency-Key: evil\r\n\r\n"sv,
     "POST / chunked = HELLO"},
    {"chunk ext unterminated quote",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=\"b\r\nHELLO\r\n0\r\n\r\n"sv,
     "POST / chunked =  ! a chunk extension holds a control byte"},
};

TEST(request_vectors, are_understood_one_way_however_they_are_cut) {
  for (const vector& v : vectors) {
    SCOPED_TRACE(v.name);
    const auto summaries = every_way([] { return hearing_requests(); }, v.raw);
    EXPECT_EQ(summaries.size(), 1u) << summaries.front() << "\n" << summaries.back();
    EXPECT_EQ(summaries.front().substr(0, summaries.front().rfind(" / ")), v.understood) << summaries.front();
  }
}

}  // namespace
}  // namespace idem::http::testing
