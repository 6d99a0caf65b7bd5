// Raw responses on which implementations differ, with what this one has to make of them.
#include <gtest/gtest.h>

#include "unit/http/conversation.hpp"

namespace idem::http::testing {
namespace {

using namespace std::string_view_literals;

struct vector {
  std::string_view name;
  std::string_view method;
  std::string_view raw;
  std::string_view understood;
};

constexpr vector vectors[] = {
    {"100 continue", "GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"sv,
     "100 'Continue' none + HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"},
    {"103", "GET", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"sv,
     "103 'Early Hints' none + HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"},
    {"103 with cl", "GET",
     "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"sv,
     "103 'Early Hints' none + HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"},
    {"101", "GET", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n\201\002hi"sv,
     "101 'Switching Protocols' none + \201\002hi"},
    {"204 cl", "GET", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\n"sv,
     "204 'No Content' none close + HTTP/1.1 200 OK\r\n"},
    {"204 plain", "GET", "HTTP/1.1 204 No Content\r\n\r\n"sv, "204 'No Content' none"},
    {"204 chunked", "GET", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n"sv,
     "204 'No Content' none close"},
    {"304 cl", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\nETag: \"x\"\r\n\r\n"sv,
     "304 'Not Modified' none"},
    {"304 plain", "GET", "HTTP/1.1 304 Not Modified\r\n\r\n"sv, "304 'Not Modified' none"},
    {"304 chunked", "GET", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n"sv,
     "304 'Not Modified' none"},
    {"205 nolen", "GET", "HTTP/1.1 205 Reset Content\r\n\r\n"sv, "205 'Reset Content' until close close = "},
    {"head cl noskip", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"sv, "200 'OK' none"},
    {"head chunked skip", "HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"sv, "200 'OK' none"},
    {"head nolen skip", "HEAD", "HTTP/1.1 200 OK\r\n\r\n"sv, "200 'OK' none"},
    {"connect 200", "CONNECT", "HTTP/1.1 200 Connection established\r\n\r\nTUNNEL"sv,
     "200 'Connection established' none + TUNNEL"},
    {"eof body", "GET", "HTTP/1.1 200 OK\r\n\r\nHELLO"sv, "200 'OK' until close close = HELLO"},
    {"cl truncated eof", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nHELLO"sv,
     "200 'OK' length 10 = HELLO ..."},
    {"partial hdr eof", "GET", "HTTP/1.1 200 OK\r\nX: "sv, "waits"},
    {"no reason no sp", "GET", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"sv, "502"},
    {"no reason sp", "GET", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n"sv, "200 '' length 0"},
    {"http10 resp", "GET", "HTTP/1.0 200 OK\r\n\r\nHELLO"sv, "200 'OK' until close close = HELLO"},
    {"http10 te resp", "GET", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\n0\r\n\r\n"sv, "502"},
    {"te gzip resp", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nHELLO"sv, "502"},
    {"cl before te resp", "GET",
     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\n0\r\n\r\n"sv, "502"},
    {"dup cl resp", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nHELLO"sv, "502"},
    {"status 600", "GET", "HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n"sv, "502"},
    {"status 4digit", "GET", "HTTP/1.1 2000 X\r\nContent-Length: 0\r\n\r\n"sv, "502"},
    {"obs fold resp", "GET", "HTTP/1.1 200 OK\r\nX: a\r\n\tb\r\nContent-Length: 0\r\n\r\n"sv, "502"},
    {"set cookie x2", "GET",
     "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX: 1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n"sv,
     "200 'OK' length 0"},
    {"extra after body", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOKEXTRA"sv,
     "200 'OK' length 2 = OK + EXTRA"},
};

TEST(response_vectors, are_understood_one_way_however_they_are_cut) {
  for (const vector& v : vectors) {
    SCOPED_TRACE(v.name);
    const auto summaries = every_way([&v] { return hearing_responses(std::string(v.method)); }, v.raw);
    EXPECT_EQ(summaries.size(), 1u) << summaries.front() << "\n" << summaries.back();
    EXPECT_EQ(summaries.front().substr(0, summaries.front().rfind(" / ")), v.understood) << summaries.front();
  }
}

}  // namespace
}  // namespace idem::http::testing
