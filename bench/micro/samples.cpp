#include "samples.hpp"

#include "idem/http/body.hpp"

namespace idem::bench {
namespace {

constexpr std::string_view small_fields =
    "Host: api.example.com\r\n"
    "User-Agent: shop/2.1 (linux; x86_64)\r\n"
    "Accept: application/json\r\n"
    "Accept-Encoding: gzip, deflate\r\n"
    "Authorization: Bearer c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0\r\n"
    "Content-Type: application/json\r\n"
    "Content-Length: 300\r\n"
    "Idempotency-Key: \"5f0c2f4e-9a1b-4c7d-8e3f-0a1b2c3d4e5f\"\r\n";

}  // namespace

std::string small_request_head() {
  return "POST /v1/charges?expand=customer HTTP/1.1\r\n" + std::string(small_fields) + "\r\n";
}

std::string large_request_head() {
  std::string head = "POST /v1/customers/cus_4QFJOjw2pOmAGJ/charges?expand=customer&limit=10 HTTP/1.1\r\n";
  head += small_fields;
  head +=
      "Connection: keep-alive\r\n"
      "Accept-Language: en-GB,en;q=0.9,de;q=0.8\r\n"
      "Cache-Control: no-cache\r\n"
      "Cookie: session=0a1b2c3d4e5f60718293a4b5c6d7e8f9; theme=dark; consent=1\r\n"
      "Origin: https://shop.example.com\r\n"
      "Referer: https://shop.example.com/checkout/confirm\r\n"
      "Sec-Fetch-Dest: empty\r\n"
      "Sec-Fetch-Mode: cors\r\n"
      "Sec-Fetch-Site: same-site\r\n"
      "X-Forwarded-For: 203.0.113.7, 198.51.100.23\r\n"
      "X-Forwarded-Proto: https\r\n"
      "X-Forwarded-Host: api.example.com\r\n"
      "Via: 1.1 edge-7\r\n"
      "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";
  for (int i = 0; i < 18; ++i) {
    head +=
        "X-Gateway-Attribute-" + std::to_string(10 + i) + ": value-" + std::to_string(1000 + i) + "-of-some-length\r\n";
  }
  return head + "\r\n";
}

std::string response_head() {
  return "HTTP/1.1 201 Created\r\n"
         "Server: uvicorn\r\n"
         "Date: Sun, 29 Nov 2026 12:00:00 GMT\r\n"
         "Content-Type: application/json\r\n"
         "Content-Length: 150\r\n"
         "Location: /v1/charges/ch_3MmlLrLkdIwHu7ix0snN0B15\r\n"
         "Cache-Control: no-store\r\n"
         "Connection: keep-alive\r\n"
         "X-Request-Id: 5f0c2f4e-9a1b-4c7d-8e3f-0a1b2c3d4e5f\r\n\r\n";
}

std::string json_body(std::size_t size) {
  std::string body =
      R"({"currency": "eur", "customer": "cus_4QFJOjw2pOmAGJ", "metadata": {"timestamp": 1764417600}, "items": [)";
  for (int i = 0; i == 0 || body.size() + 62 < size; ++i) {
    if (i > 0) body += ", ";
    body += R"({"sku": "A-)" + std::to_string(1000 + i) + R"(", "quantity": 2, "amount": 19.99, "gift": false})";
  }
  return body + "]}";
}

std::string form_body(std::size_t size) {
  std::string body = "currency=eur&customer=cus_4QFJOjw2pOmAGJ&timestamp=1764417600";
  for (int i = 0; body.size() + 48 < size; ++i) {
    const auto n = std::to_string(i);
    body += "&items%5B" + n + "%5D%5Bsku%5D=A-" + std::to_string(1000 + i) + "+red&amount=1999";
  }
  return body;
}

std::string multipart_body(std::size_t size) {
  constexpr std::string_view line = "--------------------------d74496d66958873e";
  std::string body;
  body += line;
  body += "\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nAn order\r\n";
  body += line;
  body += "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\nContent-Type: image/png\r\n\r\n";
  while (body.size() + 48 < size) body += static_cast<char>('a' + body.size() % 26);
  body += "\r\n";
  body += line;
  return body + "--\r\n";
}

std::string chunked(std::string_view body, std::size_t size) {
  std::string out;
  for (; !body.empty(); body.remove_prefix(std::min(size, body.size()))) {
    const auto piece = body.substr(0, size);
    http::append_chunk_size(out, piece.size());
    out += piece;
    out += http::chunk_end;
  }
  http::append_last_chunk(out);
  return out;
}

}  // namespace idem::bench
