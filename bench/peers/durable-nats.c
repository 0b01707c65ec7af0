/* NATS JetStream: a consumer has a stream of its own with work-queue retention, and acknowledges each message. */
#define _GNU_SOURCE
#include "durable.h"

static void greet(struct connection *c) {
  say(c, "CONNECT {\"verbose\":false,\"pedantic\":false,\"lang\":\"c\",\"version\":\"1\",\"protocol\":1}\r\n");
  if (c->role == CONSUMER) say(c, "SUB D.%d 1\r\n", c->index);
  say(c, "SUB R.%d.%d.* 2\r\nPING\r\n", c->role, c->index);
}

static void publish(struct connection *c, const char *text, size_t size, uint32_t number) {
  say(c, "PUB q.%u R.%d.%d.%u %zu\r\n", number % (uint32_t)consumer_count, c->role, c->index, number, size);
  put(c, text, size);
  put(c, "\r\n", 2);
}

static void request(struct connection *c, const char *api, const char *body) {
  say(c, "PUB $JS.API.%s R.%d.%d.0 %zu\r\n%s\r\n", api, c->role, c->index, strlen(body), body);
}

/* Makes the stream, then its consumer. */
static void make(struct connection *c) {
  char api[64], body[400];
  if (c->step++ == 0) {
    snprintf(api, sizeof api, "STREAM.CREATE.Q%d", c->index);
    snprintf(body, sizeof body, "{\"name\":\"Q%d\",\"subjects\":[\"q.%d\"],\"retention\":\"workqueue\",\"storage\":\"file\","
             "\"num_replicas\":1}", c->index, c->index);
    request(c, api, body);
  } else if (c->step == 2) {
    snprintf(api, sizeof api, "CONSUMER.DURABLE.CREATE.Q%d.c", c->index);
    snprintf(body, sizeof body, "{\"stream_name\":\"Q%d\",\"config\":{\"durable_name\":\"c\",\"deliver_subject\":\"D.%d\","
             "\"ack_policy\":\"explicit\",\"ack_wait\":60000000000,\"max_ack_pending\":10000}}", c->index, c->index);
    request(c, api, body);
  } else {
    ready(c);
  }
}

static void reply(struct connection *c, char *subject, const char *body) {
  if (strstr(body, "\"error\"")) die("nats", body);
  if (c->role == SENDER) answered(c, (uint32_t)strtoul(strrchr(subject, '.') + 1, NULL, 10));
  else if (c->role == CONSUMER) make(c);
  else {
    const char *found = strstr(body, "\"messages\":");
    if (!found) die("nats says nothing about a stream", body);
    left(strtol(found + 11, NULL, 10));
  }
}

static size_t parse(struct connection *c, unsigned char *bytes, size_t size) {
  size_t done = 0;
  for (;;) {
    char *text = (char *)bytes + done;
    unsigned char *end = memmem(text, size - done, "\r\n", 2);
    if (!end) return done;
    *end = 0;
    size_t next = (size_t)(end - bytes) + 2;
    if (!strncmp(text, "MSG ", 4)) {
      char subject[64], to[128] = "";
      int number;
      size_t body;
      if (sscanf(text, "MSG %63s %d %127s %zu", subject, &number, to, &body) != 4) {
        to[0] = 0;
        if (sscanf(text, "MSG %63s %d %zu", subject, &number, &body) != 3) die("nats", text);
      }
      if (size - next < body + 2) {
        *end = '\r';
        return done;
      }
      bytes[next + body] = 0;
      if (number == 1) {
        delivered(bytes + next, body);
        say(c, "PUB %s 0\r\n\r\n", to);
      } else {
        reply(c, subject, (char *)bytes + next);
      }
      next += body + 2;
    } else if (!strcmp(text, "PING")) {
      say(c, "PONG\r\n");
    } else if (!strcmp(text, "PONG")) {
      if (c->role == CONSUMER) make(c);
      else ready(c);
    } else if (strncmp(text, "INFO ", 5)) {
      die("nats", text);
    }
    done = next;
  }
}

static int audit(struct connection *c) {
  for (int i = 0; i < consumer_count; i++) {
    char api[64];
    snprintf(api, sizeof api, "STREAM.INFO.Q%d", i);
    request(c, api, "");
  }
  return consumer_count;
}

const struct protocol protocol = {.greet = greet, .parse = parse, .publish = publish, .audit = audit};
