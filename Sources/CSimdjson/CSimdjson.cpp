#include "CSimdjson.h"

#include <cstring>
#include <new>
#include <simdjson.h>
#include <type_traits>

namespace dom = simdjson::dom;

struct csimdjson_parser {
  dom::parser parser;
  size_t maximum_depth;
};

namespace {

/// Nodes, elements and iterators are all one tape reference, so they are copied into each other as bytes.
template <typename To, typename From> To as(const From &from) noexcept {
  static_assert(sizeof(To) == sizeof(From), "simdjson changed the size of its tape reference");
  static_assert(std::is_trivially_copyable<To>::value && std::is_trivially_copyable<From>::value,
                "simdjson's tape reference is no longer plain bytes");
  To to;
  std::memcpy(static_cast<void *>(&to), static_cast<const void *>(&from), sizeof(To));
  return to;
}

dom::element element(csimdjson_node node) noexcept { return as<dom::element>(node); }

csimdjson_text text(std::string_view view) noexcept {
  return {reinterpret_cast<const uint8_t *>(view.data()), view.size()};
}

template <typename Container> csimdjson_cursor cursor(csimdjson_node node) noexcept {
  Container container;
  if (element(node).get(container)) return {};
  return {as<csimdjson_node>(container.begin()), as<csimdjson_node>(container.end())};
}

/// Returns the iterator at the cursor and moves the cursor past it. The cursor is not at its end.
template <typename Container> typename Container::iterator advance(csimdjson_cursor *cursor) noexcept {
  auto current = as<typename Container::iterator>(cursor->next);
  auto next = current;
  ++next;
  cursor->next = as<csimdjson_node>(next);
  return current;
}

/// How deep the brackets of a document are, which is exact for valid JSON.
size_t depth(const uint8_t *bytes, size_t count) noexcept {
  size_t depth = 0, deepest = 0;
  bool is_string = false;
  for (size_t place = 0; place < count; place++) {
    const uint8_t byte = bytes[place];
    if (is_string) {
      if (byte == '\\') place++;
      else if (byte == '"') is_string = false;
    } else if (byte == '"') {
      is_string = true;
    } else if (byte == '[' || byte == '{') {
      if (++depth > deepest) deepest = depth;
    } else if ((byte == ']' || byte == '}') && depth > 0) {
      depth--;
    }
  }
  return deepest;
}

} // namespace

csimdjson_parser *csimdjson_parser_create(size_t maximum_depth) {
  return new (std::nothrow) csimdjson_parser{dom::parser(), maximum_depth};
}

void csimdjson_parser_free(csimdjson_parser *parser) { delete parser; }

const char *csimdjson_parse(csimdjson_parser *parser, const uint8_t *bytes, size_t count, csimdjson_node *root) {
  if (count == 0) return simdjson::error_message(simdjson::EMPTY);
  dom::parser &reader = parser->parser;
  // simdjson counts levels that hold something: at its bound an empty array or object may be one level deeper. So it is
  // asked for one less, and what it then finds too deep, which is rare, is counted exactly.
  if (reader.max_depth() != parser->maximum_depth) {
    if (auto error = reader.allocate(count, parser->maximum_depth)) return simdjson::error_message(error);
  }
  dom::element element;
  auto error = reader.parse(bytes, count).get(element);
  if (error == simdjson::DEPTH_ERROR && depth(bytes, count) <= parser->maximum_depth) {
    error = reader.allocate(count, parser->maximum_depth + 1);
    if (!error) error = reader.parse(bytes, count).get(element);
    // The next document begins with the usual bound again, and this one's element stays as it is.
  }
  if (error) return simdjson::error_message(error);
  *root = as<csimdjson_node>(element);
  return nullptr;
}

csimdjson_kind csimdjson_kind_of(csimdjson_node node) {
  switch (element(node).type()) {
  case dom::element_type::ARRAY: return csimdjson_kind_array;
  case dom::element_type::OBJECT: return csimdjson_kind_object;
  case dom::element_type::INT64: return csimdjson_kind_int64;
  case dom::element_type::UINT64: return csimdjson_kind_uint64;
  case dom::element_type::DOUBLE: return csimdjson_kind_double;
  case dom::element_type::STRING: return csimdjson_kind_string;
  case dom::element_type::BOOL: return csimdjson_kind_boolean;
  case dom::element_type::NULL_VALUE: return csimdjson_kind_null;
  }
  return csimdjson_kind_null;
}

bool csimdjson_get_boolean(csimdjson_node node, bool *value) { return !element(node).get(*value); }

bool csimdjson_get_int64(csimdjson_node node, int64_t *value) { return !element(node).get(*value); }

bool csimdjson_get_uint64(csimdjson_node node, uint64_t *value) { return !element(node).get(*value); }

bool csimdjson_get_double(csimdjson_node node, double *value) { return !element(node).get(*value); }

bool csimdjson_get_string(csimdjson_node node, csimdjson_text *value) {
  std::string_view view;
  if (element(node).get(view)) return false;
  *value = text(view);
  return true;
}

bool csimdjson_find(csimdjson_node object, csimdjson_text key, csimdjson_node *value) {
  dom::object members;
  if (element(object).get(members)) return false;
  dom::element found;
  if (members.at_key({reinterpret_cast<const char *>(key.start), key.count}).get(found)) return false;
  *value = as<csimdjson_node>(found);
  return true;
}

csimdjson_cursor csimdjson_members(csimdjson_node object) { return cursor<dom::object>(object); }

csimdjson_cursor csimdjson_elements(csimdjson_node array) { return cursor<dom::array>(array); }

bool csimdjson_next_member(csimdjson_cursor *cursor, csimdjson_text *key, csimdjson_node *value) {
  if (cursor->next.index == cursor->end.index) return false;
  auto member = advance<dom::object>(cursor);
  *key = text(member.key());
  *value = as<csimdjson_node>(member.value());
  return true;
}

bool csimdjson_next_element(csimdjson_cursor *cursor, csimdjson_node *value) {
  if (cursor->next.index == cursor->end.index) return false;
  *value = as<csimdjson_node>(*advance<dom::array>(cursor));
  return true;
}

// Older versions define it without quotes.
#define CSIMDJSON_TEXT_OF(text) #text
#define CSIMDJSON_TEXT(macro) CSIMDJSON_TEXT_OF(macro)

const char *csimdjson_version(void) {
  static const char text[] = CSIMDJSON_TEXT(SIMDJSON_VERSION);
  return text;
}
