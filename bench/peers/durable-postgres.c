/* PostgreSQL, protocol 3.0: an INSERT and its commit for each message. A consumer selects up to 100 rows with FOR UPDATE SKIP
 * LOCKED, and deletes each by its id in the same transaction. Its next SELECT is in the round trip of the COMMIT. */
#define _GNU_SOURCE
#include "durable.h"

static unsigned char packet[1024];
static size_t packet_size;

static void open_packet(char kind) {
  packet[0] = (unsigned char)kind;
  packet_size = 5;
}

static void add(const void *bytes, size_t size) {
  if (packet_size + size > sizeof packet) die("too long a message for this program", "");
  memcpy(packet + packet_size, bytes, size);
  packet_size += size;
}

static void add_number(uint32_t value, int size) {
  for (int i = size - 1; i >= 0; i--) add(&(unsigned char){(unsigned char)(value >> 8 * i)}, 1);
}

static void post(struct connection *c) {
  uint32_t size = (uint32_t)packet_size - 1;
  for (int i = 0; i < 4; i++) packet[1 + i] = (unsigned char)(size >> (24 - 8 * i));
  size_t skipped = packet[0] ? 0 : 1; /* the first message has no kind */
  put(c, packet + skipped, packet_size - skipped);
}

static void prepare(struct connection *c, const char *name, const char *sql) {
  open_packet('P');
  add(name, strlen(name) + 1);
  add(sql, strlen(sql) + 1);
  add_number(0, 2);
  post(c);
}

/* Executes a prepared statement with one parameter, or with none. */
static void run(struct connection *c, const char *name, const char *parameter, size_t size) {
  open_packet('B');
  add("", 1);
  add(name, strlen(name) + 1);
  add_number(0, 2);
  add_number(parameter ? 1 : 0, 2);
  if (parameter) {
    add_number((uint32_t)size, 4);
    add(parameter, size);
  }
  add_number(0, 2);
  post(c);
  open_packet('E');
  add("", 1);
  add_number(0, 4);
  post(c);
}

static void sync_now(struct connection *c) {
  open_packet('S');
  post(c);
}

static void greet(struct connection *c) {
  open_packet(0);
  add_number(3 << 16, 4);
  add("user\0postgres\0database\0postgres\0", 33);
  post(c);
}

static void publish(struct connection *c, const char *text, size_t size, uint32_t number) {
  (void)number;
  run(c, "insert", text, size);
  sync_now(c);
}

static void read_more(struct connection *c) {
  run(c, "begin", NULL, 0);
  run(c, "select", NULL, 0);
  sync_now(c);
  c->value = 0;
}

/* Ends the transaction of the last SELECT, after the deletes that are under way, and begins the next. */
static void again(struct connection *c) {
  run(c, "commit", NULL, 0);
  read_more(c);
}

static void prepare_all(struct connection *c) {
  if (c->role == SENDER) prepare(c, "insert", "INSERT INTO queue (body) VALUES ($1)");
  if (c->role == CONSUMER) {
    prepare(c, "begin", "BEGIN");
    prepare(c, "select", "SELECT id, body FROM queue ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED");
    prepare(c, "delete", "DELETE FROM queue WHERE id = $1");
    prepare(c, "commit", "COMMIT");
  }
  if (c->role == AUDITOR) prepare(c, "count", "SELECT count(*) FROM queue");
  sync_now(c);
}

/* A row of id and body: a delete goes out with the others when the reply ends. */
static void row(struct connection *c, unsigned char *at) {
  uint32_t size = big32(at + 2);
  char *id = (char *)at + 6;
  if (c->role == AUDITOR) {
    char text[24];
    snprintf(text, sizeof text, "%.*s", (int)size, id);
    left(strtol(text, NULL, 10));
    return;
  }
  unsigned char *body = at + 6 + size;
  delivered(body + 4, big32(body));
  run(c, "delete", id, size);
  c->value++;
}

static void take(struct connection *c, unsigned char kind, unsigned char *at, size_t size) {
  if (kind == 'E') {
    char text[300];
    for (size_t i = 0; i < sizeof text; i++) text[i] = i < size ? at[i] ? (char)at[i] : ' ' : 0;
    text[sizeof text - 1] = 0;
    die("postgres", text);
  } else if (kind == 'D') {
    row(c, at);
  } else if (kind == 'C' && c->role == CONSUMER && !memcmp(at, "DELETE", 6) && memcmp(at, "DELETE 1", 9)) {
    die("postgres has not deleted a message that is acknowledged", "");
  } else if (kind == 'Z' && c->state == GREETING) {
    if (c->step++ == 0) {
      prepare_all(c);
      return;
    }
    ready(c);
    if (c->role == CONSUMER) read_more(c);
  } else if (kind == 'Z' && c->role == SENDER) {
    answered_next(c);
  } else if (kind == 'Z' && c->role == CONSUMER) {
    if (c->value) again(c);
    else wait_us(c, 1000);
  }
}

static size_t parse(struct connection *c, unsigned char *bytes, size_t size) {
  size_t done = 0;
  while (size - done >= 5) {
    uint32_t rest = big32(bytes + done + 1);
    if (size - done < rest + 1) break;
    take(c, bytes[done], bytes + done + 5, rest - 4);
    done += rest + 1;
  }
  return done;
}

static int audit(struct connection *c) {
  run(c, "count", NULL, 0);
  sync_now(c);
  return 1;
}

const struct protocol protocol = {
  .preamble = "\0\0\0\10\4\xd2\26\57", .preamble_size = 8, .greet = greet, .parse = parse, .publish = publish, .again = again,
  .audit = audit};
