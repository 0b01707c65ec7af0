/* The load of bench/durable: durable.c has connections, numbers and figures, and one file for each peer has its protocol. */
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum role { CONSUMER, SENDER, AUDITOR };
enum state { CONNECTING, PREAMBLE, HANDSHAKE, GREETING, READY };

struct connection {
  int fd, index, is_dirty, wants_write;
  enum role role;
  enum state state;
  SSL *ssl;
  unsigned char *in, *out;
  size_t in_size, in_room, out_size, out_room;
  int in_flight;
  uint32_t sent;     /* a sender's messages so far */
  uint32_t answered; /* of which all before this one are answered, if answers come in order */
  uint64_t due;      /* the time of the next call of `again`, or 0 */
  long step, value;  /* the protocol's own */
};

/* What one peer speaks. A parser takes whole replies from the buffer, and returns the number of bytes that it took. */
struct protocol {
  const char *preamble; /* sent in the clear before TLS, and answered with one byte S */
  size_t preamble_size;
  void (*greet)(struct connection *);
  size_t (*parse)(struct connection *, unsigned char *, size_t);
  void (*publish)(struct connection *, const char *text, size_t size, uint32_t number);
  void (*again)(struct connection *);
  void (*finish)(struct connection *); /* a consumer gives back what it has not acknowledged */
  int (*audit)(struct connection *); /* asks for what the server still holds; the number of calls of `left` to come */
};

extern const struct protocol protocol;
extern int consumer_count, sender_count, message_size;

void die(const char *what, const char *more);
void put(struct connection *, const void *bytes, size_t size);
void say(struct connection *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ready(struct connection *);
/* A message of this number is on the server's disk, as it says; the next one of its sender, in order. */
void answered(struct connection *, uint32_t number);
void answered_next(struct connection *);
int is_answered(uint32_t number);
void delivered(const unsigned char *text, size_t size);
void left(long count);
/* Calls `again` after a while. */
void wait_us(struct connection *, uint64_t us);

uint64_t clock_ns(void);
void record(uint64_t us);
/* A percentile of what was recorded, in milliseconds. */
double percentile(double share);
double tree_cpu(int root);
double own_cpu(void);

static inline uint32_t big32(const unsigned char *b) {
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}
