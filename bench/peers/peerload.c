/* Drives a peer of the gateway over TLS, from one thread with epoll: the same work as `pushcli bench`, for servers that
 * speak something else.
 *
 *   peerload mqtt  HOST PORT CA DEVICES PUBLISHERS WINDOW SECONDS SIZE PID     MQTT 3.1.1, QoS 1 both ways (mosquitto)
 *   peerload nchan HOST PORT CA DEVICES PUBLISHERS WINDOW SECONDS SIZE PID     HTTP/1.1, raw streams (nginx with nchan)
 *   peerload idle-mqtt|idle-nchan|idle-h2 HOST PORT CA DEVICES 0 0 0 0 PID     connects and measures the server's memory
 *
 * Every device has a topic of its own; a message goes to one device; a publisher always serves the same devices and keeps
 * WINDOW messages unacknowledged; with RATE in the environment it sends at that rate instead, and latency counts from the
 * intended time. Messages hold the intended time and a number for each device, so that order, loss and
 * duplicates are seen. The first second is not measured. PID is the server's process. One JSON object is printed; its
 * load_cpu_share says whether this program was the limit.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum protocol { MQTT, NCHAN, H2 };
enum state { CONNECTING, HANDSHAKE, GREETING, SUBSCRIBING, READY };

struct connection {
  int fd, index, is_publisher, is_dirty, wants_write;
  enum state state;
  SSL *ssl;
  unsigned char *in, *out;
  size_t in_size, in_room, out_size, out_room;
  int in_flight;
  uint16_t packet;
  uint32_t next_device, expected; /* a publisher's next device; a device's next number */
};

static enum protocol protocol;
static int device_count, publisher_count, window, message_size, epoll, ready_count, is_sending;
static double rate;
static struct connection *connections, **dirty;
static size_t dirty_count;
static uint32_t *numbers; /* by device */
static SSL_CTX *tls;
static struct sockaddr_storage address;
static socklen_t address_size;
static const char *host;
static char *message;
static uint64_t start, measured_from, measured_to;
static long sent, acknowledged, delivered, measured_acknowledged, measured_delivered, duplicated, reordered, failed;

/* Latencies in microseconds: 128 buckets for each power of two, so within 0.8 %. */
#define SUB 128
static long buckets[40 * SUB];

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void die(const char *what) {
  fprintf(stderr, "peerload: %s\n", what);
  exit(1);
}

static void record(uint64_t us) {
  int power = 0;
  while (us >> power >= SUB * 2) power++;
  size_t place = (size_t)power * SUB + (size_t)(us >> power);
  if (place < sizeof buckets / sizeof *buckets) buckets[place]++;
}

static double percentile(double share) {
  long total = 0, seen = 0;
  size_t count = sizeof buckets / sizeof *buckets;
  for (size_t i = 0; i < count; i++) total += buckets[i];
  for (size_t i = 0; i < count; i++) {
    seen += buckets[i];
    if (total && seen >= share * total) {
      int power = i < SUB * 2 ? 0 : (int)(i / SUB) - 1;
      return (double)((i - (size_t)power * SUB) << power) / 1000;
    }
  }
  return 0;
}

static void process_use(int pid, double *cpu, double *resident) {
  char path[64], text[4096];
  *cpu = *resident = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *file = fopen(path, "r");
  if (file) {
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = 0;
    fclose(file);
    char *end = strrchr(text, ')');
    unsigned long user, system;
    if (end && sscanf(end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) == 2)
      *cpu = (double)(user + system) / sysconf(_SC_CLK_TCK);
  }
  snprintf(path, sizeof path, "/proc/%d/statm", pid);
  file = fopen(path, "r");
  if (file) {
    long pages;
    if (fscanf(file, "%*d %ld", &pages) == 1) *resident = (double)pages * sysconf(_SC_PAGESIZE);
    fclose(file);
  }
}

static void put(struct connection *c, const void *bytes, size_t size) {
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
    int wrote = SSL_write(c->ssl, c->out + done, (int)(size < 16384 ? size : 16384));
    if (wrote > 0) {
      done += (size_t)wrote;
      continue;
    }
    int error = SSL_get_error(c->ssl, wrote);
    if (error != SSL_ERROR_WANT_WRITE && error != SSL_ERROR_WANT_READ) die("a connection broke while writing");
    break;
  }
  memmove(c->out, c->out + done, c->out_size - done);
  c->out_size -= done;
  watch(c, c->out_size > 0);
}

static void begin(struct connection *c) {
  c->fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (c->fd < 0) die("no more descriptors: fewer devices, or a higher limit");
  int one = 1;
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (connect(c->fd, (struct sockaddr *)&address, address_size) && errno != EINPROGRESS) die("nothing answers");
  c->ssl = SSL_new(tls);
  SSL_set1_host(c->ssl, host);
  SSL_set_fd(c->ssl, c->fd);
  SSL_set_connect_state(c->ssl);
  c->state = CONNECTING;
  c->wants_write = 1;
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = c};
  epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
}

static void topic_of(int device, char text[16]) { snprintf(text, 16, "d/%08d", device); }

static void greet(struct connection *c) {
  if (protocol == MQTT) {
    char client[24];
    int size = snprintf(client, sizeof client, "%c%08d", c->is_publisher ? 'p' : 'd', c->index);
    unsigned char head[] = {0x10, (unsigned char)(12 + size), 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 0, 0,
                            (unsigned char)size};
    put(c, head, sizeof head);
    put(c, client, (size_t)size);
    c->state = GREETING;
  } else if (protocol == NCHAN) {
    if (!c->is_publisher) {
      char text[160];
      int size = snprintf(text, sizeof text, "GET /sub/%08d HTTP/1.1\r\nHost: %s\r\n\r\n", c->index, host);
      put(c, text, (size_t)size);
      c->state = GREETING;
    } else {
      c->state = READY;
      ready_count++;
    }
  } else {
    put(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
    c->state = READY;
    ready_count++;
  }
}

static const char hex[] = "0123456789abcdef";

static void publish(struct connection *c, int device, uint64_t intended) {
  for (int i = 0; i < 16; i++) message[8 + i] = hex[intended >> (60 - 4 * i) & 15];
  uint32_t number = numbers[device]++;
  for (int i = 0; i < 8; i++) message[24 + i] = hex[number >> (28 - 4 * i) & 15];
  if (protocol == MQTT) {
    char topic[16];
    topic_of(device, topic);
    size_t rest = 2 + 10 + 2 + (size_t)message_size;
    unsigned char head[18] = {0x32};
    size_t place = 1;
    for (size_t value = rest;; ) {
      unsigned char digit = value & 127;
      value >>= 7;
      head[place++] = (unsigned char)(digit | (value ? 128 : 0));
      if (!value) break;
    }
    head[place++] = 0;
    head[place++] = 10;
    put(c, head, place);
    put(c, topic, 10);
    if (++c->packet == 0) c->packet = 1;
    unsigned char packet[] = {(unsigned char)(c->packet >> 8), (unsigned char)c->packet};
    put(c, packet, 2);
  } else {
    char head[160];
    int size = snprintf(head, sizeof head, "POST /pub/%08d HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", device,
                        host, message_size);
    put(c, head, (size_t)size);
  }
  put(c, message, (size_t)message_size);
  c->in_flight++;
  sent++;
}

/* A publisher serves the devices whose number leaves its own when divided by the number of publishers. */
static int next_device(struct connection *c) {
  uint32_t device = c->next_device;
  c->next_device += (uint32_t)publisher_count;
  if (c->next_device >= (uint32_t)device_count) c->next_device = (uint32_t)c->index;
  return (int)device;
}

static void pump(void) {
  if (!is_sending) return;
  uint64_t now = now_ns();
  struct connection *publishers = connections + device_count;
  if (rate == 0) {
    for (int i = 0; i < publisher_count; i++)
      while (publishers[i].in_flight < window) publish(&publishers[i], next_device(&publishers[i]), now);
    return;
  }
  for (;;) {
    uint64_t intended = start + (uint64_t)((double)(sent + 1) / rate * 1e9);
    if (intended > now) return;
    struct connection *c = &publishers[sent % publisher_count];
    if (c->in_flight >= window) return;
    publish(c, next_device(c), intended);
  }
}

static void acknowledge(struct connection *c, uint64_t now) {
  c->in_flight--;
  acknowledged++;
  if (now >= measured_from && now < measured_to) measured_acknowledged++;
}

static uint64_t read_hex(const unsigned char *digits, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; i++) value = value << 4 | (uint64_t)(digits[i] > '9' ? digits[i] - 'a' + 10 : digits[i] - '0');
  return value;
}

static void deliver(struct connection *c, const unsigned char *text, uint64_t now) {
  uint64_t intended = read_hex(text + 8, 16);
  uint32_t number = (uint32_t)read_hex(text + 24, 8);
  if (number < c->expected) duplicated++;
  else {
    if (number > c->expected) reordered++;
    c->expected = number + 1;
    delivered++;
  }
  if (now >= measured_from && now < measured_to) measured_delivered++;
  if (intended >= measured_from && intended < measured_to) record((now - intended) / 1000);
}

/* Each parser takes what is whole and returns how much that was. */
static size_t parse_mqtt(struct connection *c, unsigned char *bytes, size_t size, uint64_t now) {
  size_t done = 0;
  for (;;) {
    if (size - done < 2) return done;
    size_t rest = 0, place = done + 1;
    int shift = 0;
    do {
      if (place == size) return done;
      rest |= (size_t)(bytes[place] & 127) << shift;
      shift += 7;
    } while (bytes[place++] & 128);
    if (size - place < rest) return done;
    switch (bytes[done] >> 4) {
    case 2:
      if (bytes[place + 1]) die("the broker refuses to connect");
      if (c->is_publisher) {
        c->state = READY;
        ready_count++;
      } else {
        unsigned char head[] = {0x82, 15, 0, 1, 0, 10};
        char topic[16];
        topic_of(c->index, topic);
        put(c, head, sizeof head);
        put(c, topic, 10);
        put(c, "\1", 1);
        c->state = SUBSCRIBING;
      }
      break;
    case 3: {
      size_t topic = (size_t)bytes[place] << 8 | bytes[place + 1];
      unsigned char answer[] = {0x40, 2, bytes[place + 2 + topic], bytes[place + 3 + topic]};
      if (bytes[done] & 6) put(c, answer, 4);
      deliver(c, bytes + place + topic + (bytes[done] & 6 ? 4 : 2), now);
      break;
    }
    case 4: acknowledge(c, now); break;
    case 9:
      c->state = READY;
      ready_count++;
      break;
    }
    done = place + rest;
  }
}

static size_t parse_nchan(struct connection *c, unsigned char *bytes, size_t size, uint64_t now) {
  size_t done = 0;
  if (c->is_publisher) {
    for (;;) {
      unsigned char *end = memmem(bytes + done, size - done, "\r\n\r\n", 4);
      if (!end) return done;
      size_t head = (size_t)(end - bytes) + 4, body = 0;
      unsigned char *length = memmem(bytes + done, head - done, "Content-Length: ", 16);
      if (length) body = strtoul((char *)length + 16, NULL, 10);
      if (size - head < body) return done;
      if (bytes[done + 9] != '2') failed++;
      acknowledge(c, now);
      done = head + body;
    }
  }
  if (c->state == GREETING) {
    unsigned char *end = memmem(bytes, size, "\r\n\r\n", 4);
    if (!end) return 0;
    if (bytes[9] != '2') die("nginx refuses to subscribe");
    done = (size_t)(end - bytes) + 4;
    c->state = READY;
    ready_count++;
  }
  for (;;) {
    unsigned char *end = memchr(bytes + done, '\n', size - done);
    if (!end) return done;
    if ((size_t)(end - bytes) - done >= (size_t)message_size) deliver(c, bytes + done, now);
    done = (size_t)(end - bytes) + 1;
  }
}

static void receive(struct connection *c) {
  for (;;) {
    if (c->in_size + 16384 > c->in_room) {
      c->in_room = c->in_size + 16384;
      c->in = realloc(c->in, c->in_room);
    }
    int size = SSL_read(c->ssl, c->in + c->in_size, 16384);
    if (size <= 0) {
      int error = SSL_get_error(c->ssl, size);
      if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) die("the server hung up");
      break;
    }
    c->in_size += (size_t)size;
    uint64_t now = now_ns();
    size_t taken = protocol == MQTT    ? parse_mqtt(c, c->in, c->in_size, now)
                   : protocol == NCHAN ? parse_nchan(c, c->in, c->in_size, now)
                                       : c->in_size;
    memmove(c->in, c->in + taken, c->in_size - taken);
    c->in_size -= taken;
  }
  if (c->in_size == 0) {
    free(c->in);
    c->in = NULL;
    c->in_room = 0;
  }
}

static void serve(struct connection *c) {
  if (c->state <= HANDSHAKE) {
    int result = SSL_do_handshake(c->ssl);
    if (result != 1) {
      int error = SSL_get_error(c->ssl, result);
      if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
        watch(c, error == SSL_ERROR_WANT_WRITE);
        return;
      }
      ERR_print_errors_fp(stderr);
      die("the TLS handshake failed");
    }
    watch(c, 0);
    greet(c);
  }
  receive(c);
  if (c->out_size && !c->is_dirty) {
    c->is_dirty = 1;
    dirty[dirty_count++] = c;
  }
}

static void turn(int timeout) {
  static struct epoll_event events[512];
  int count = epoll_wait(epoll, events, 512, timeout);
  for (int i = 0; i < count; i++) serve(events[i].data.ptr);
  pump();
  for (size_t i = 0; i < dirty_count; i++) {
    dirty[i]->is_dirty = 0;
    flush(dirty[i]);
  }
  dirty_count = 0;
}

int main(int argc, char **argv) {
  if (argc != 11) die("see the head of peerload.c for its arguments");
  int is_idle = !strncmp(argv[1], "idle-", 5);
  const char *name = argv[1] + (is_idle ? 5 : 0);
  protocol = !strcmp(name, "mqtt") ? MQTT : !strcmp(name, "nchan") ? NCHAN : H2;
  host = argv[2];
  device_count = atoi(argv[5]);
  publisher_count = is_idle ? 0 : atoi(argv[6]);
  window = atoi(argv[7]);
  double seconds = atof(argv[8]);
  message_size = atoi(argv[9]);
  int pid = atoi(argv[10]);
  if (getenv("RATE")) rate = atof(getenv("RATE"));
  signal(SIGPIPE, SIG_IGN);
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);

  struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM};
  if (getaddrinfo(host, argv[3], &hints, &found)) die("that name has no address");
  memcpy(&address, found->ai_addr, found->ai_addrlen);
  address_size = found->ai_addrlen;
  tls = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  if (SSL_CTX_load_verify_locations(tls, argv[4], NULL) != 1) die("no certificates to trust");
  SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
  if (protocol == H2) SSL_CTX_set_alpn_protos(tls, (const unsigned char *)"\2h2", 3);

  int count = device_count + publisher_count;
  connections = calloc((size_t)count, sizeof *connections);
  dirty = calloc((size_t)count, sizeof *dirty);
  numbers = calloc((size_t)device_count, sizeof *numbers);
  message = malloc((size_t)message_size + 1);
  memset(message, 'x', (size_t)message_size);
  if (message_size >= 40) memcpy(message, "{\"mark\":", 8);
  epoll = epoll_create1(EPOLL_CLOEXEC);
  double cpu_before, resident_before, cpu, resident, own_before, own, unused;
  process_use(pid, &cpu_before, &resident_before);
  for (int i = 0; i < count;) {
    for (; i < count && i < ready_count + 256; i++) {
      connections[i].is_publisher = i >= device_count;
      connections[i].index = i < device_count ? i : i - device_count;
      connections[i].next_device = (uint32_t)connections[i].index;
      begin(&connections[i]);
    }
    turn(100);
  }
  for (uint64_t end = now_ns() + 60000000000u; ready_count < count;) {
    turn(100);
    if (now_ns() > end) die("not all connected within 60 s");
  }
  if (is_idle) {
    for (uint64_t end = now_ns() + 2000000000u; now_ns() < end;) turn(100);
    process_use(pid, &cpu, &resident);
    printf("{\"devices\":%d,\"resident_bytes_before\":%.0f,\"resident_bytes\":%.0f,\"bytes_per_device\":%.0f}\n",
           device_count, resident_before, resident, (resident - resident_before) / device_count);
    return 0;
  }
  start = now_ns();
  measured_from = start + 1000000000u;
  measured_to = measured_from + (uint64_t)(seconds * 1e9);
  is_sending = 1;
  int is_measuring = 0;
  while (now_ns() < measured_to) {
    turn(rate > 0 ? 1 : 10);
    if (!is_measuring && now_ns() >= measured_from) {
      is_measuring = 1;
      process_use(pid, &cpu_before, &unused);
      process_use(getpid(), &own_before, &unused);
    }
  }
  process_use(pid, &cpu, &resident);
  process_use(getpid(), &own, &unused);
  is_sending = 0;
  long last = -1;
  for (uint64_t quiet = now_ns(); delivered < acknowledged - failed || acknowledged < sent;) {
    turn(10);
    if (delivered + acknowledged != last) {
      last = delivered + acknowledged;
      quiet = now_ns();
    } else if (now_ns() - quiet > 5000000000u) break;
  }
  printf("{\"acknowledged\":%ld,\"delivered\":%ld,\"refused\":%ld,\"lost\":%ld,\"duplicated\":%ld,\"gaps\":%ld,"
         "\"acknowledged_per_second\":%.0f,\"delivered_per_second\":%.0f,\"p50_ms\":%.3f,\"p99_ms\":%.3f,"
         "\"p999_ms\":%.3f,\"server_cpu_share\":%.3f,\"server_cpu_seconds_per_100000\":%.3f,\"load_cpu_share\":%.3f,"
         "\"resident_bytes\":%.0f}\n",
         acknowledged, delivered, failed, acknowledged - failed - delivered, duplicated, reordered,
         measured_acknowledged / seconds, measured_delivered / seconds, percentile(0.5), percentile(0.99),
         percentile(0.999), (cpu - cpu_before) / seconds, (cpu - cpu_before) / measured_acknowledged * 100000,
         (own - own_before) / seconds, resident);
  return 0;
}
