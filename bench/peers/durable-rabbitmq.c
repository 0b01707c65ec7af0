/* RabbitMQ over AMQP 0-9-1: publisher confirms, and a consumer with a quorum queue of its own, which acknowledges each message. */
#define _GNU_SOURCE
#include "durable.h"

enum {
  START = 10 << 16 | 10, TUNE = 10 << 16 | 30, OPENED = 10 << 16 | 41, CLOSED = 10 << 16 | 50, CHANNEL = 20 << 16 | 11,
  CHANNEL_CLOSED = 20 << 16 | 40, CLOSE_ENDED = 20 << 16 | 41,
  DECLARED = 50 << 16 | 11, LIMITED = 60 << 16 | 11, CONSUMES = 60 << 16 | 21,
  DELIVER = 60 << 16 | 60, ACK = 60 << 16 | 80
};

/* A frame under construction. */
struct frame { unsigned char bytes[512]; size_t size; };

static void number(struct frame *f, uint64_t value, int size) {
  while (size--) f->bytes[f->size++] = (unsigned char)(value >> 8 * size);
}

static void text(struct frame *f, const char *value, int size_of_size) {
  number(f, strlen(value), size_of_size);
  memcpy(f->bytes + f->size, value, strlen(value));
  f->size += strlen(value);
}

static struct frame frame(int type, int channel) {
  struct frame f = {.size = 0};
  number(&f, (uint64_t)type, 1);
  number(&f, (uint64_t)channel, 2);
  number(&f, 0, 4);
  return f;
}

static struct frame method(int channel, int class, int id) {
  struct frame f = frame(1, channel);
  number(&f, (uint64_t)class, 2);
  number(&f, (uint64_t)id, 2);
  return f;
}

static void post(struct connection *c, struct frame *f) {
  size_t rest = f->size - 7;
  for (int i = 0; i < 4; i++) f->bytes[3 + i] = (unsigned char)(rest >> (24 - 8 * i));
  number(f, 0xce, 1);
  put(c, f->bytes, f->size);
}

static void queue(struct frame *f, uint32_t index) {
  char name[16];
  snprintf(name, sizeof name, "q%u", index);
  text(f, name, 1);
}

static void greet(struct connection *c) { put(c, "AMQP\0\0\11\1", 8); }

static void publish(struct connection *c, const char *body, size_t size, uint32_t number_) {
  struct frame f = method(1, 60, 40);
  number(&f, 0, 2);
  text(&f, "", 1);
  queue(&f, number_ % (uint32_t)consumer_count);
  number(&f, 0, 1);
  post(c, &f);
  f = frame(2, 1);
  number(&f, 60, 2);
  number(&f, 0, 2);
  number(&f, size, 8);
  number(&f, 0x1000, 2); /* it has a delivery mode: persistent */
  number(&f, 2, 1);
  post(c, &f);
  unsigned char head[] = {3, 0, 1, (unsigned char)(size >> 24), (unsigned char)(size >> 16), (unsigned char)(size >> 8),
                          (unsigned char)size};
  put(c, head, 7);
  put(c, body, size);
  put(c, "\xce", 1);
}

static void declare(struct connection *c, uint32_t index, int is_passive) {
  struct frame f = method(1, 50, 10);
  number(&f, 0, 2);
  queue(&f, index);
  number(&f, is_passive ? 1 : 2, 1); /* passive, or durable */
  if (is_passive) number(&f, 0, 4);
  else {
    number(&f, 1 + 12 + 1 + 4 + 6, 4);
    text(&f, "x-queue-type", 1);
    number(&f, 'S', 1);
    text(&f, "quorum", 4);
  }
  post(c, &f);
}

static uint64_t big64(const unsigned char *b) { return (uint64_t)big32(b) << 32 | big32(b + 4); }

/* The tag t of a sender's channel is its message t − 1. */
static void confirm(struct connection *c, uint64_t tag, int is_multiple) {
  for (uint64_t t = is_multiple ? c->answered + 1 : tag; t <= tag; t++) {
    uint32_t n = (uint32_t)(t - 1) * (uint32_t)sender_count + (uint32_t)c->index;
    if (!is_multiple || !is_answered(n)) answered(c, n);
  }
  while (c->answered < c->sent && is_answered(c->answered * (uint32_t)sender_count + (uint32_t)c->index)) c->answered++;
}

static void handshake(struct connection *c, uint32_t kind) {
  struct frame f;
  if (kind == START) {
    f = method(0, 10, 11);
    number(&f, 0, 4);
    text(&f, "PLAIN", 1);
    number(&f, 12, 4);
    memcpy(f.bytes + f.size, "\0guest\0guest", 12);
    f.size += 12;
    text(&f, "en_US", 1);
    post(c, &f);
  } else if (kind == TUNE) {
    f = method(0, 10, 31);
    number(&f, 16, 2);
    number(&f, 131072, 4);
    number(&f, 0, 2);
    post(c, &f);
    f = method(0, 10, 40);
    text(&f, "/", 1);
    number(&f, 0, 2);
    post(c, &f);
  } else if (kind == OPENED) {
    f = method(1, 20, 10);
    number(&f, 0, 1);
    post(c, &f);
  } else if (kind == CHANNEL && c->role == SENDER) {
    f = method(1, 85, 10);
    number(&f, 0, 1);
    post(c, &f);
  } else if (kind == CHANNEL && c->role == CONSUMER) {
    declare(c, (uint32_t)c->index, 0);
  } else if (kind == DECLARED) {
    f = method(1, 60, 10);
    number(&f, 0, 4);
    number(&f, 400, 2); /* unacknowledged at most */
    number(&f, 0, 1);
    post(c, &f);
  } else if (kind == LIMITED) {
    f = method(1, 60, 20);
    number(&f, 0, 2);
    queue(&f, (uint32_t)c->index);
    text(&f, "c", 1);
    number(&f, 0, 1);
    number(&f, 0, 4);
    post(c, &f);
  } else {
    ready(c);
  }
}

static void take(struct connection *c, int type, unsigned char *at, size_t size) {
  if (type == 3) {
    delivered(at, size);
    struct frame f = method(1, 60, 80);
    number(&f, (uint64_t)c->value, 8);
    number(&f, 0, 1);
    post(c, &f);
  }
  if (type != 1) return;
  uint32_t kind = big32(at);
  at += 4;
  if (kind == DELIVER) {
    at += 1 + *at;
    c->value = (long)big64(at);
  } else if (kind == ACK) {
    confirm(c, big64(at), at[8]);
  } else if (kind == DECLARED && c->role == AUDITOR) {
    at += 1 + *at;
    left((long)big32(at) + (long)big32(at + 4)); /* messages, and consumers that still have some */
  } else if (kind == CLOSED || kind == CHANNEL_CLOSED) {
    at[3 + at[2]] = 0;
    die("rabbitmq closes", (char *)at + 3);
  } else if (kind == CLOSE_ENDED) {
    return;
  } else if (c->state == GREETING) {
    handshake(c, kind);
  } else {
    die("rabbitmq sends an unexpected method", "");
  }
}

static size_t parse(struct connection *c, unsigned char *bytes, size_t size) {
  size_t done = 0;
  while (size - done >= 8) {
    uint32_t rest = big32(bytes + done + 3);
    if (size - done < rest + 8) break;
    if (bytes[done + 7 + rest] != 0xce) die("rabbitmq: not a frame", "");
    take(c, bytes[done], bytes + done + 7, rest);
    done += rest + 8;
  }
  return done;
}

/* Closes the channel: a message without acknowledgement is back in its queue, where the audit counts it. */
static void finish(struct connection *c) {
  struct frame f = method(1, 20, 40);
  number(&f, 200, 2);
  text(&f, "", 1);
  number(&f, 0, 4);
  post(c, &f);
}

static int audit(struct connection *c) {
  for (int i = 0; i < consumer_count; i++) declare(c, (uint32_t)i, 1);
  return consumer_count;
}

const struct protocol protocol = {.greet = greet, .parse = parse, .publish = publish, .finish = finish,
                                  .audit = audit};
