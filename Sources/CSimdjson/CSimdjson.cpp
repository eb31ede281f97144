#include "CSimdjson.h"

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

// The code checks results and never converts them: a conversion that throws would end the process on a bad payload.
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

using namespace simdjson;

namespace {

// A reset frees a text buffer that is larger than this, and the parser's own buffers likewise.
constexpr size_t kept_text_bytes = 64 * 1024;

// A reset keeps at most this many bytes of document buffers. A payload with large JSON texts in its strings has up to
// max_documents of them.
constexpr size_t kept_document_bytes = 1024 * 1024;

// Bytes that simdjson allocates for a document (document::allocate): a tape word for each byte of the text, and 5/3 of
// the text for strings.
size_t retained_bytes(const dom::document &document) {
  size_t capacity = document.capacity();
  return capacity * sizeof(uint64_t) + 5 * capacity / 3;
}

sb_json_status status_of(error_code error) {
  switch (error) {
  case SUCCESS:
    return SB_JSON_OK;
  case EMPTY:
    return SB_JSON_EMPTY;
  case UTF8_ERROR:
    return SB_JSON_UTF8;
  case STRING_ERROR:
  case UNESCAPED_CHARS:
    return SB_JSON_STRING;
  case UNCLOSED_STRING:
    return SB_JSON_UNCLOSED_STRING;
  case NUMBER_ERROR:
    return SB_JSON_NUMBER;
  case DEPTH_ERROR:
    return SB_JSON_DEPTH;
  case CAPACITY:
    return SB_JSON_SIZE;
  case MEMALLOC:
    return SB_JSON_MEMORY;
  default:
    return SB_JSON_SYNTAX;
  }
}

// Visits a value and everything in it; stops at the first error.
error_code walk(ondemand::value value, size_t depth) {
  if (depth == 0) return DEPTH_ERROR;
  ondemand::json_type type;
  SIMDJSON_TRY(value.type().get(type));
  switch (type) {
  case ondemand::json_type::object: {
    ondemand::object object;
    SIMDJSON_TRY(value.get_object().get(object));
    for (auto field : object) {
      std::string_view key;
      SIMDJSON_TRY(field.unescaped_key().get(key));
      ondemand::value child;
      SIMDJSON_TRY(field.value().get(child));
      SIMDJSON_TRY(walk(child, depth - 1));
    }
    return SUCCESS;
  }
  case ondemand::json_type::array: {
    ondemand::array array;
    SIMDJSON_TRY(value.get_array().get(array));
    for (auto element : array) {
      ondemand::value child;
      SIMDJSON_TRY(element.get(child));
      SIMDJSON_TRY(walk(child, depth - 1));
    }
    return SUCCESS;
  }
  case ondemand::json_type::string: {
    std::string_view text;
    return value.get_string().get(text);
  }
  case ondemand::json_type::number: {
    ondemand::number number;
    return value.get_number().get(number);
  }
  case ondemand::json_type::boolean: {
    bool flag;
    return value.get_bool().get(flag);
  }
  default: {
    bool is_null;
    SIMDJSON_TRY(value.is_null().get(is_null));
    return is_null ? SUCCESS : N_ATOM_ERROR;
  }
  }
}

// Finds the value of a JSON Pointer and the position at which it begins. If a key is repeated, its last value counts.
// One pass: the iteration over the members of an object skips the values of other keys.
error_code locate(ondemand::value value, std::string_view pointer, const char **location) {
  if (pointer.empty()) return value.current_location().get(*location);
  size_t end = pointer.find('/', 1);
  std::string_view rest = end == std::string_view::npos ? std::string_view() : pointer.substr(end);
  std::string token(pointer.substr(1, end == std::string_view::npos ? end : end - 1));
  for (size_t tilde = token.find('~'); tilde != std::string::npos; tilde = token.find('~', tilde + 1)) {
    token.replace(tilde, 2, token.compare(tilde, 2, "~1") == 0 ? "/" : "~");
  }
  ondemand::json_type type;
  SIMDJSON_TRY(value.type().get(type));
  bool found = false;
  if (type == ondemand::json_type::object) {
    ondemand::object object;
    SIMDJSON_TRY(value.get_object().get(object));
    for (auto field : object) {
      std::string_view key;
      SIMDJSON_TRY(field.unescaped_key().get(key));
      if (key != token) continue;
      ondemand::value member;
      SIMDJSON_TRY(field.value().get(member));
      error_code error = locate(member, rest, location);
      if (error && error != NO_SUCH_FIELD) return error;
      // The last of several equal keys may lack the member that an earlier one has.
      found = found || !error;
    }
  } else if (type == ondemand::json_type::array) {
    ondemand::array array;
    SIMDJSON_TRY(value.get_array().get(array));
    size_t index = 0;
    for (auto element : array) {
      ondemand::value item;
      SIMDJSON_TRY(element.get(item));
      if (std::to_string(index++) == token) return locate(item, rest, location);
    }
  }
  return found ? SUCCESS : NO_SUCH_FIELD;
}

} // namespace

struct sb_json_parser {
  dom::parser parser;
  std::vector<std::unique_ptr<dom::document>> documents;
  std::unique_ptr<uint8_t[]> text;
  size_t text_capacity = 0;
  size_t used = 0;
  size_t max_depth;
  size_t max_documents;

  sb_json_parser(size_t max_bytes, size_t depth, size_t documents)
      : parser(max_bytes), max_depth(depth), max_documents(documents) {}
};

sb_json_parser *sb_json_parser_create(size_t max_bytes, size_t max_depth, size_t max_documents) {
  return new (std::nothrow) sb_json_parser(max_bytes, max_depth, max_documents);
}

void sb_json_parser_destroy(sb_json_parser *parser) { delete parser; }

void sb_json_parser_reset(sb_json_parser *parser) {
  parser->used = 0;
  size_t kept = 0, bytes = 0;
  for (; kept < parser->documents.size(); kept++) {
    bytes += retained_bytes(*parser->documents[kept]);
    if (bytes > kept_document_bytes) break;
  }
  parser->documents.resize(kept);
  if (parser->text_capacity <= kept_text_bytes) return;
  parser->text.reset();
  parser->text_capacity = 0;
  // simdjson frees the buffers of a large document when it allocates those of a small one.
  (void)parser->parser.allocate(kept_text_bytes, parser->max_depth);
}

size_t sb_json_parser_retained_bytes(const sb_json_parser *parser) {
  // simdjson's indexes of structural characters are 32 bits wide.
  size_t bytes = parser->text_capacity + parser->parser.capacity() * sizeof(uint32_t);
  for (const auto &document : parser->documents) bytes += retained_bytes(*document);
  return bytes;
}

sb_json_status sb_json_parse(sb_json_parser *parser, const uint8_t *bytes, size_t length, sb_json_tape *out) {
  if (length > parser->parser.max_capacity()) return SB_JSON_SIZE;
  if (parser->used == parser->max_documents) return SB_JSON_DOCUMENTS;
  if (!parser->text || length > parser->text_capacity) {
    size_t wanted = length < 4096 ? 4096 : length;
    parser->text.reset(new (std::nothrow) uint8_t[wanted + SIMDJSON_PADDING]);
    parser->text_capacity = parser->text ? wanted : 0;
    if (!parser->text) return SB_JSON_MEMORY;
  }
  if (length > 0) std::memcpy(parser->text.get(), bytes, length);
  std::memset(parser->text.get() + length, 0, SIMDJSON_PADDING);
  if (parser->parser.capacity() < length || parser->parser.max_depth() != parser->max_depth) {
    size_t wanted = length < 4096 ? 4096 : length;
    if (parser->parser.allocate(wanted, parser->max_depth)) return SB_JSON_MEMORY;
  }
  if (parser->used == parser->documents.size()) {
    parser->documents.emplace_back(new (std::nothrow) dom::document());
    if (!parser->documents.back()) return parser->documents.pop_back(), SB_JSON_MEMORY;
  }
  dom::document &document = *parser->documents[parser->used];
  dom::element root;
  error_code error = parser->parser.parse_into_document(document, parser->text.get(), length, false).get(root);
  if (error) return status_of(error);
  parser->used += 1;
  out->tape = document.tape.get();
  out->strings = document.string_buf.get();
  return SB_JSON_OK;
}

ptrdiff_t sb_json_error_offset(const uint8_t *bytes, size_t length, size_t max_depth) {
  ondemand::parser parser;
  padded_string text(reinterpret_cast<const char *>(bytes), length);
  ondemand::document document;
  error_code error = parser.iterate(text).get(document);
  if (error == UNCLOSED_STRING) return static_cast<ptrdiff_t>(length);
  if (error) return -1;
  ondemand::value root;
  error = document.get_value().get(root);
  // A scalar at the root has no value of its own to walk.
  if (error == SCALAR_DOCUMENT_AS_VALUE) return -1;
  if (!error) error = walk(root, max_depth);
  if (error == INCOMPLETE_ARRAY_OR_OBJECT) return static_cast<ptrdiff_t>(length);
  const char *location;
  if (document.current_location().get(location)) return error ? static_cast<ptrdiff_t>(length) : -1;
  ptrdiff_t offset = location - text.data();
  return offset >= 0 && offset <= static_cast<ptrdiff_t>(length) ? offset : -1;
}

ptrdiff_t sb_json_value_offset(const uint8_t *bytes, size_t length, const char *pointer, size_t pointer_length) {
  if (pointer_length > 0 && pointer[0] != '/') return -1;
  size_t mark = length >= 3 && std::memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  ondemand::parser parser;
  padded_string text(reinterpret_cast<const char *>(bytes) + mark, length - mark);
  ondemand::document document;
  if (parser.iterate(text).get(document)) return -1;
  const char *location;
  ondemand::value root;
  if (pointer_length == 0) {
    // Not through the value, which a scalar at the root does not have.
    if (document.current_location().get(location)) return -1;
  } else if (document.get_value().get(root) || locate(root, std::string_view(pointer, pointer_length), &location)) {
    return -1;
  }
  ptrdiff_t offset = location - text.data();
  return offset >= 0 && offset < static_cast<ptrdiff_t>(length - mark) ? offset + static_cast<ptrdiff_t>(mark) : -1;
}
