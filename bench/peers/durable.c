/* Drives a durable message queue from one thread with epoll: senders, consumers, and a check of every message.
 *
 *   durable-PEER HOST PORT CA|- SENDERS CONSUMERS IN_FLIGHT SECONDS SIZE PID
 *
 * A sender keeps IN_FLIGHT/SENDERS messages unanswered. It pauses while the server holds as many messages again that are not
 * delivered, so that the latency is the server's own and not that of a backlog. Messages hold a number. After the run each
 * number must have been answered, and delivered once; then a new connection asks the server, which must hold none.
 * With a `-` in place of a CA the connections have no TLS. The first second is not measured. The CPU is that of PID and of all
 * processes below it. One JSON object is printed; its load_cpu_share says whether this program was the limit.
 */
#define _GNU_SOURCE
#include "durable.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST (1u << 24)
enum { ANSWERED = 1, DELIVERED = 2 };

int consumer_count, sender_count, message_size;
static int window, limit, epoll, ready_count, is_measured;
static struct connection *connections, **dirty;
static int connection_count;
static size_t dirty_count;
static SSL_CTX *tls;
static struct sockaddr_in address;
static const char *host;
static char *message;
static uint64_t now, measured_from, measured_to, *sent_at;
static unsigned char *flags;
static uint32_t sent_count, answered_count, delivered_count, doubled, measured;
static long left_count;
static int left_calls;

/* Connections */

void put(struct connection *c, const void *bytes, size_t size) {
  if (c->out_size + size > c->out_room) {
    c->out_room = (c->out_size + size) * 2;
    c->out = realloc(c->out, c->out_room);
  }
  memcpy(c->out + c->out_size, bytes, size);
  c->out_size += size;
  if (!c->is_dirty) {
    c->is_dirty = 1;
    dirty[dirty_count++] = c;
  }
}

void say(struct connection *c, const char *format, ...) {
  char text[1024];
  va_list list;
  va_start(list, format);
  int size = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (size >= (int)sizeof text) die("too long a command", "");
  put(c, text, (size_t)size);
}

static void watch(struct connection *c, int write) {
  if (c->wants_write == write) return;
  c->wants_write = write;
  struct epoll_event event = {.events = EPOLLIN | (write ? EPOLLOUT : 0), .data.ptr = c};
  epoll_ctl(epoll, EPOLL_CTL_MOD, c->fd, &event);
}

static void flush(struct connection *c) {
  size_t done = 0;
  while (done < c->out_size) {
    size_t size = c->out_size - done;
    if (c->ssl) {
      int wrote = SSL_write(c->ssl, c->out + done, (int)(size < 16384 ? size : 16384));
      if (wrote <= 0) {
        int error = SSL_get_error(c->ssl, wrote);
        if (error != SSL_ERROR_WANT_WRITE && error != SSL_ERROR_WANT_READ) die("a connection broke while writing", "");
        break;
      }
      done += (size_t)wrote;
    } else {
      ssize_t wrote = write(c->fd, c->out + done, size);
      if (wrote < 0) {
        if (errno != EAGAIN) die("a connection broke while writing", strerror(errno));
        break;
      }
      done += (size_t)wrote;
    }
  }
  memmove(c->out, c->out + done, c->out_size - done);
  c->out_size -= done;
  watch(c, c->out_size > 0);
}

static void begin(struct connection *c, enum role role, int index) {
  memset(c, 0, sizeof *c);
  c->role = role;
  c->index = index;
  c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int one = 1;
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (connect(c->fd, (struct sockaddr *)&address, sizeof address) && errno != EINPROGRESS) die("nothing answers", "");
  c->wants_write = 1;
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = c};
  epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
}

void ready(struct connection *c) {
  c->state = READY;
  ready_count++;
}

void wait_us(struct connection *c, uint64_t us) { c->due = clock_ns() + us * 1000; }

/* Opens TLS, where there is one. True when the protocol can begin. */
static int open_connection(struct connection *c) {
  if (c->state == CONNECTING) {
    c->state = tls ? protocol.preamble ? PREAMBLE : HANDSHAKE : GREETING;
    if (c->state == PREAMBLE && write(c->fd, protocol.preamble, protocol.preamble_size) < 0) die("nothing answers", "");
    watch(c, 0);
    if (c->state == GREETING) protocol.greet(c);
    if (c->state != HANDSHAKE) return 0;
  }
  if (c->state == PREAMBLE) {
    char answer = 0;
    if (read(c->fd, &answer, 1) < 0 && errno == EAGAIN) return 0;
    if (answer != 'S') die("the server has no TLS", "");
    c->state = HANDSHAKE;
  }
  if (!c->ssl) {
    c->ssl = SSL_new(tls);
    SSL_set1_host(c->ssl, host);
    SSL_set_fd(c->ssl, c->fd);
    SSL_set_connect_state(c->ssl);
  }
  int result = SSL_do_handshake(c->ssl);
  if (result != 1) {
    int error = SSL_get_error(c->ssl, result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
      ERR_print_errors_fp(stderr);
      die("the TLS handshake failed", "");
    }
    watch(c, error == SSL_ERROR_WANT_WRITE);
    return 0;
  }
  watch(c, 0);
  c->state = GREETING;
  protocol.greet(c);
  return 1;
}

static void receive(struct connection *c) {
  for (;;) {
    if (c->in_size + 16384 > c->in_room) {
      c->in_room = c->in_room * 2 + 16384;
      c->in = realloc(c->in, c->in_room);
    }
    ssize_t size;
    if (c->ssl) {
      size = SSL_read(c->ssl, c->in + c->in_size, 16384);
      int error = size > 0 ? 0 : SSL_get_error(c->ssl, (int)size);
      if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return;
    } else {
      size = read(c->fd, c->in + c->in_size, 16384);
      if (size < 0 && errno == EAGAIN) return;
    }
    if (size <= 0) die("the server hung up", "");
    c->in_size += (size_t)size;
    now = clock_ns();
    size_t taken = protocol.parse(c, c->in, c->in_size);
    memmove(c->in, c->in + taken, c->in_size - taken);
    c->in_size -= taken;
  }
}

/* Messages */

static const char hex[] = "0123456789abcdef";

static void send_one(struct connection *c) {
  uint32_t number = c->sent++ * (uint32_t)sender_count + (uint32_t)c->index;
  if (number >= MOST) die("more messages than this program has numbers for", "");
  for (int i = 0; i < 8; i++) message[8 + i] = hex[number >> (28 - 4 * i) & 15];
  sent_at[number] = clock_ns();
  c->in_flight++;
  sent_count++;
  protocol.publish(c, message, (size_t)message_size, number);
}

static void pump(void) {
  for (int any = 1; any;) {
    any = 0;
    for (int i = 0; i < sender_count; i++) {
      struct connection *c = &connections[consumer_count + i];
      if (c->in_flight >= window || (int64_t)sent_count - delivered_count >= 2 * limit) continue;
      send_one(c);
      any = 1;
    }
  }
}

void answered(struct connection *c, uint32_t number) {
  if (number >= MOST || !sent_at[number] || flags[number] & ANSWERED) die("an answer to no message", "");
  flags[number] |= ANSWERED;
  answered_count++;
  c->in_flight--;
}

void answered_next(struct connection *c) {
  answered(c, c->answered++ * (uint32_t)sender_count + (uint32_t)c->index);
}

int is_answered(uint32_t number) { return flags[number] & ANSWERED; }

void delivered(const unsigned char *text, size_t size) {
  if (size != (size_t)message_size || memcmp(text, message, 8) || memcmp(text + 16, message + 16, size - 16))
    die("a message is not as it was sent", "");
  uint32_t number = 0;
  for (int i = 8; i < 16; i++) number = number << 4 | (uint32_t)(text[i] > '9' ? text[i] - 'a' + 10 : text[i] - '0');
  if (number >= MOST || !sent_at[number]) die("a message has a number that was not sent", "");
  if (flags[number] & DELIVERED) {
    doubled++;
    return;
  }
  flags[number] |= DELIVERED;
  delivered_count++;
  if (now >= measured_from && now < measured_to) measured++;
  if (sent_at[number] >= measured_from && sent_at[number] < measured_to) record((now - sent_at[number]) / 1000);
}

void left(long count) {
  left_count += count;
  left_calls--;
}

static void turn(int timeout) {
  static struct epoll_event events[512];
  int is_polling = 0;
  for (int i = 0; i < connection_count; i++) is_polling |= connections[i].due != 0;
  int count = epoll_wait(epoll, events, 512, is_polling ? 1 : timeout);
  for (int i = 0; i < count; i++) {
    struct connection *c = events[i].data.ptr;
    if (c->state >= GREETING || open_connection(c)) receive(c);
    if (c->out_size && !c->is_dirty) {
      c->is_dirty = 1;
      dirty[dirty_count++] = c;
    }
  }
  for (int i = 0; is_polling && i < connection_count; i++)
    if (connections[i].due && clock_ns() >= connections[i].due) {
      connections[i].due = 0;
      protocol.again(&connections[i]);
    }
  if (is_measured) pump();
  for (size_t i = 0; i < dirty_count; i++) {
    dirty[i]->is_dirty = 0;
    flush(dirty[i]);
  }
  dirty_count = 0;
}

static void open_all(int from, int to, enum role role) {
  ready_count = 0;
  for (int i = from; i < to; i++) begin(&connections[i], role, i - from);
  connection_count = to;
  for (uint64_t last = clock_ns() + 30000000000u; ready_count < to - from;) {
    turn(100);
    if (clock_ns() > last) die("not all are connected within 30 s", "");
  }
}

/* Messages that the server still holds, asked anew for up to ten seconds. */
static long audit(void) {
  struct connection *auditor = &connections[connection_count];
  for (int i = 0; protocol.finish && i < consumer_count; i++) protocol.finish(&connections[i]);
  open_all(connection_count, connection_count + 1, AUDITOR);
  for (uint64_t last = clock_ns() + 10000000000u; clock_ns() < last;) {
    left_count = 0;
    left_calls = protocol.audit(auditor);
    while (left_calls > 0 && clock_ns() < last) turn(10);
    if (left_calls == 0 && left_count == 0) return 0;
    for (uint64_t pause = clock_ns() + 100000000u; clock_ns() < pause;) turn(10);
  }
  return left_calls ? -1 : left_count;
}

int main(int argc, char **argv) {
  if (argc != 10) die("see the head of durable.c for its arguments", "");
  host = argv[1];
  sender_count = atoi(argv[4]);
  consumer_count = atoi(argv[5]);
  limit = atoi(argv[6]);
  window = limit / sender_count;
  double seconds = atof(argv[7]);
  message_size = atoi(argv[8]);
  int pid = atoi(argv[9]);
  if (window < 1 || message_size < 32) die("fewer in flight than senders, or messages of less than 32 bytes", "");
  signal(SIGPIPE, SIG_IGN);
  address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2]))};
  if (inet_pton(AF_INET, host, &address.sin_addr) != 1) die("not an address", host);
  if (strcmp(argv[3], "-")) {
    tls = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (SSL_CTX_load_verify_locations(tls, argv[3], NULL) != 1) die("no certificates to trust", argv[3]);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
  }
  int count = consumer_count + sender_count;
  connections = calloc((size_t)count + 1, sizeof *connections);
  dirty = calloc((size_t)count + 1, sizeof *dirty);
  sent_at = calloc(MOST, sizeof *sent_at);
  flags = calloc(MOST, 1);
  message = malloc((size_t)message_size);
  memset(message, 'x', (size_t)message_size);
  memcpy(message, "{\"mark\":", 8);
  epoll = epoll_create1(EPOLL_CLOEXEC);
  open_all(0, consumer_count, CONSUMER);
  open_all(consumer_count, count, SENDER);

  measured_from = clock_ns() + 1000000000u;
  measured_to = measured_from + (uint64_t)(seconds * 1e9);
  is_measured = 1;
  while (clock_ns() < measured_from) turn(10);
  double cpu = tree_cpu(pid), own = own_cpu();
  while (clock_ns() < measured_to) turn(10);
  cpu = tree_cpu(pid) - cpu;
  own = own_cpu() - own;
  is_measured = 0;
  long last = -1;
  for (uint64_t quiet = clock_ns(); delivered_count < sent_count || answered_count < sent_count;) {
    turn(10);
    long all = (long)delivered_count + answered_count;
    if (all == last && clock_ns() - quiet > 5000000000u) break;
    if (all != last) quiet = clock_ns();
    last = all;
  }
  uint32_t lost = 0, unanswered = sent_count - answered_count;
  for (uint32_t i = 0; i < MOST; i++) lost += (flags[i] & (ANSWERED | DELIVERED)) == ANSWERED;
  long held = audit();
  printf("{\"sent\":%u,\"answered\":%u,\"delivered\":%u,\"lost\":%u,\"doubled\":%u,\"left\":%ld,\"delivered_per_second\":%.1f,"
         "\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"server_cpu_us\":%.2f,\"server_cpu_share\":%.3f,\"load_cpu_share\":%.3f}\n",
         sent_count, answered_count, delivered_count, lost, doubled, held, measured / seconds, percentile(0.5),
         percentile(0.99), measured ? cpu * 1e6 / measured : 0, cpu / seconds, own / seconds);
  if (!lost && !doubled && !unanswered && !held && measured) return 0;
  fprintf(stderr, "durable: %u lost, %u doubled, %u without an answer, %ld left on the server, %u measured\n", lost, doubled,
          unanswered, held, measured);
  return 1;
}
