/* beanstalkd: put; reserve, then delete. All consumers have the same tube, and each has one job at a time. */
#define _GNU_SOURCE
#include "durable.h"

static void greet(struct connection *c) {
  ready(c);
  if (c->role == CONSUMER) say(c, "reserve\r\n");
}

static void publish(struct connection *c, const char *text, size_t size, uint32_t number) {
  (void)number;
  say(c, "put 0 0 600 %zu\r\n", size);
  put(c, text, size);
  put(c, "\r\n", 2);
}

static long field(const char *text, const char *name) {
  const char *found = strstr(text, name);
  if (!found) die("beanstalkd has no figure", name);
  return strtol(found + strlen(name), NULL, 10);
}

static size_t parse(struct connection *c, unsigned char *bytes, size_t size) {
  size_t done = 0;
  for (;;) {
    char *text = (char *)bytes + done;
    unsigned char *end = memmem(text, size - done, "\r\n", 2);
    if (!end) return done;
    *end = 0;
    size_t next = (size_t)(end - bytes) + 2;
    unsigned long id;
    size_t body;
    if (c->role == CONSUMER && sscanf(text, "RESERVED %lu %zu", &id, &body) == 2) {
      if (size - next < body + 2) {
        *end = '\r';
        return done;
      }
      delivered(bytes + next, body);
      say(c, "delete %lu\r\nreserve\r\n", id);
      next += body + 2;
    } else if (c->role == AUDITOR && sscanf(text, "OK %zu", &body) == 1) {
      if (size - next < body + 2) {
        *end = '\r';
        return done;
      }
      bytes[next + body] = 0;
      left(field((char *)bytes + next, "current-jobs-ready: ") + field((char *)bytes + next, "current-jobs-reserved: "));
      next += body + 2;
    } else if (c->role == SENDER && !strncmp(text, "INSERTED ", 9)) answered_next(c);
    else if (c->role != CONSUMER || strcmp(text, "DELETED")) die("beanstalkd", text);
    done = next;
  }
}

static int audit(struct connection *c) {
  say(c, "stats-tube default\r\n");
  return 1;
}

const struct protocol protocol = {.greet = greet, .parse = parse, .publish = publish, .audit = audit};
