/// simdjson's DOM parser as C: what `JSONParser` and `JSONElement` of PushPolicy are made of.
///
/// No function throws, allocates per node, or checks that a node is still alive: a node belongs to the document that its
/// parser read last, and ends when that parser reads again or is freed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A parser together with the document it read last.
typedef struct csimdjson_parser csimdjson_parser;

/// A value of the document: the document, and an index into its tape. The layout is that of `simdjson::dom::element`.
typedef struct {
  const void *_Nullable document;
  size_t index;
} csimdjson_node;

/// The text of a string, unescaped, in UTF-8. It may hold NUL, and a lone low surrogate that was written as an escape.
typedef struct {
  const uint8_t *_Nullable start;
  size_t count;
} csimdjson_text;

/// Where an iteration over an array or an object stands.
typedef struct {
  csimdjson_node next;
  csimdjson_node end;
} csimdjson_cursor;

/// The types of a value; numbers are told apart by how they are written and how large they are.
typedef enum __attribute__((enum_extensibility(closed))) {
  csimdjson_kind_null,
  csimdjson_kind_boolean,
  csimdjson_kind_int64,
  csimdjson_kind_uint64,
  csimdjson_kind_double,
  csimdjson_kind_string,
  csimdjson_kind_array,
  csimdjson_kind_object,
} csimdjson_kind;

/// A parser of documents that are at most `maximum_depth` levels deep, 1 or more; the root is the first level.
/// Returns NULL when there is no memory.
csimdjson_parser *_Nullable csimdjson_parser_create(size_t maximum_depth);
void csimdjson_parser_free(csimdjson_parser *_Nonnull parser);

/// Copies `count` bytes into the parser's padded buffer, parses them, and sets `root`.
/// Returns NULL, or what is wrong in simdjson's words, which are never freed.
const char *_Nullable csimdjson_parse(csimdjson_parser *_Nonnull parser, const uint8_t *_Nullable bytes, size_t count,
                                      csimdjson_node *_Nonnull root);

csimdjson_kind csimdjson_kind_of(csimdjson_node node);

/// Each sets `value` and returns true, or returns false when the node is of another type or does not fit.
bool csimdjson_get_boolean(csimdjson_node node, bool *_Nonnull value);
bool csimdjson_get_int64(csimdjson_node node, int64_t *_Nonnull value);
bool csimdjson_get_uint64(csimdjson_node node, uint64_t *_Nonnull value);
bool csimdjson_get_double(csimdjson_node node, double *_Nonnull value);
bool csimdjson_get_string(csimdjson_node node, csimdjson_text *_Nonnull value);

/// Finds the first member of an object with this unescaped key.
bool csimdjson_find(csimdjson_node object, csimdjson_text key, csimdjson_node *_Nonnull value);

/// Begins an iteration; one over a node that is no object or no array is empty.
csimdjson_cursor csimdjson_members(csimdjson_node object);
csimdjson_cursor csimdjson_elements(csimdjson_node array);

/// Takes the next member or element; returns false at the end.
bool csimdjson_next_member(csimdjson_cursor *_Nonnull cursor, csimdjson_text *_Nonnull key,
                           csimdjson_node *_Nonnull value);
bool csimdjson_next_element(csimdjson_cursor *_Nonnull cursor, csimdjson_node *_Nonnull value);

/// The version of simdjson that this was built with, as `3.0.1`; the library tells none.
const char *_Nonnull csimdjson_version(void);

#ifdef __cplusplus
}
#endif
