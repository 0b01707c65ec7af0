/* Redis streams: XADD; XREADGROUP, then XACK and XDEL for each message. A consumer has a stream of its own. */
#define _GNU_SOURCE
#include "durable.h"

static void greet(struct connection *c) {
  if (c->role == CONSUMER) say(c, "XGROUP CREATE q%d g $ MKSTREAM\r\n", c->index);
  else ready(c);
}

static void publish(struct connection *c, const char *text, size_t size, uint32_t number) {
  char key[16];
  int length = snprintf(key, sizeof key, "q%u", number % (uint32_t)consumer_count);
  say(c, "*5\r\n$4\r\nXADD\r\n$%d\r\n%s\r\n$1\r\n*\r\n$1\r\nm\r\n$%zu\r\n", length, key, size);
  put(c, text, size);
  put(c, "\r\n", 2);
}

static void read_more(struct connection *c) {
  say(c, "XREADGROUP GROUP g c COUNT 100 BLOCK 0 STREAMS q%d >\r\n", c->index);
}

/* The end of the line that begins here, or NULL; its number goes to `value`. */
static unsigned char *line(unsigned char *at, unsigned char *end, long *value) {
  *value = 0;
  unsigned char *found = memmem(at, (size_t)(end - at), "\r\n", 2);
  if (!found) return NULL;
  *value = strtol((char *)at + 1, NULL, 10);
  return found + 2;
}

/* The end of the reply that begins here, or NULL while it is not whole. */
static unsigned char *whole(unsigned char *at, unsigned char *end) {
  long value;
  if (at == end) return NULL;
  unsigned char kind = *at;
  if (!(at = line(at, end, &value))) return NULL;
  if (kind == '$' && value >= 0) return end - at < value + 2 ? NULL : at + value + 2;
  for (long i = 0; kind == '*' && i < value; i++)
    if (!(at = whole(at, end))) return NULL;
  return at;
}

/* [[stream, [[id, [field, message]], …]]], which is whole. */
static void take(struct connection *c, unsigned char *at, unsigned char *end) {
  long count, size;
  at = line(at, end, &size);
  at = line(at, end, &size);
  at = whole(at, end);
  at = line(at, end, &count);
  for (long i = 0; i < count; i++) {
    at = line(at, end, &size);
    at = line(at, end, &size);
    int length = (int)size;
    char *id = (char *)at;
    at = line(at + size + 2, end, &size);
    at = whole(at, end);
    at = line(at, end, &size);
    delivered(at, (size_t)size);
    at += size + 2;
    say(c, "XACK q%d g %.*s\r\nXDEL q%d %.*s\r\n", c->index, length, id, c->index, length, id);
    c->value += 2;
  }
  read_more(c);
}

static size_t parse(struct connection *c, unsigned char *bytes, size_t size) {
  unsigned char *at = bytes, *end = bytes + size, *next;
  for (; (next = whole(at, end)); at = next) {
    if (*at == '-' && !(c->state == GREETING && !memcmp(at, "-BUSYGROUP", 10))) die("redis", (char *)at);
    if (c->role == SENDER) answered_next(c);
    else if (c->role == AUDITOR) {
      long value;
      unsigned char *first = line(at, end, &value);
      if (*at == '*') line(first, end, &value);
      left(value);
    } else if (c->state == GREETING) {
      ready(c);
      read_more(c);
    } else if (*at == '*') take(c, at, end);
    else if (memcmp(at, ":1\r\n", 4)) die("redis has not removed a message that is acknowledged", "");
  }
  return (size_t)(at - bytes);
}

static int audit(struct connection *c) {
  for (int i = 0; i < consumer_count; i++) say(c, "XLEN q%d\r\nXPENDING q%d g\r\n", i, i);
  return 2 * consumer_count;
}

const struct protocol protocol = {.greet = greet, .parse = parse, .publish = publish, .audit = audit};
