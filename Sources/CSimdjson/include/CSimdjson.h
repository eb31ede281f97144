// simdjson's DOM parser behind C calls: a text becomes a tape and a string buffer, which Swift reads in place.
// The tape's layout is described in simdjson's doc/tape.md.
#ifndef CSIMDJSON_H
#define CSIMDJSON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sb_json_status {
  SB_JSON_OK = 0,
  SB_JSON_EMPTY,
  SB_JSON_SYNTAX,
  SB_JSON_UTF8,
  SB_JSON_STRING,
  SB_JSON_UNCLOSED_STRING,
  SB_JSON_NUMBER,
  SB_JSON_DEPTH,
  SB_JSON_SIZE,
  SB_JSON_DOCUMENTS,
  SB_JSON_MEMORY,
} sb_json_status;

typedef struct sb_json_tape {
  const uint64_t *tape;
  const uint8_t *strings;
} sb_json_tape;

typedef struct sb_json_parser sb_json_parser;

// NULL when memory is short.
sb_json_parser *sb_json_parser_create(size_t max_bytes, size_t max_depth, size_t max_documents);
void sb_json_parser_destroy(sb_json_parser *parser);

// Forgets all documents; tapes returned earlier become invalid. Frees large buffers and keeps at most
// SB_JSON_RETAINED_BYTES.
void sb_json_parser_reset(sb_json_parser *parser);

#define SB_JSON_RETAINED_BYTES 2097152 // 2 MiB

// Capacity of all buffers, in bytes.
size_t sb_json_parser_retained_bytes(const sb_json_parser *parser);

// Parses one document and keeps those parsed since the last reset. The text is copied: the caller may free it at once.
sb_json_status sb_json_parse(sb_json_parser *parser, const uint8_t *bytes, size_t length, sb_json_tape *out);

// About where the text stops being JSON, as a byte offset; its length when it ends too early, -1 when simdjson cannot
// tell. For messages about texts that were refused: it walks the text a second time, with simdjson's On-Demand parser,
// which knows where it stands.
ptrdiff_t sb_json_error_offset(const uint8_t *bytes, size_t length, size_t max_depth);

// The byte offset of the value that a JSON Pointer names. The last one if keys repeat; -1 if there is none.
// For messages about configuration files.
ptrdiff_t sb_json_value_offset(const uint8_t *bytes, size_t length, const char *pointer, size_t pointer_length);

#ifdef __cplusplus
}
#endif

#endif
