/* The clock, latencies and processor time for durable.c. */
#define _GNU_SOURCE
#include "durable.h"

#include <ctype.h>
#include <dirent.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

void die(const char *what, const char *more) {
  fprintf(stderr, "durable: %s%s%.300s\n", what, *more ? ": " : "", more);
  exit(1);
}

uint64_t clock_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Latencies in microseconds: 128 buckets for each power of two, so within 0.8 %. */
#define SUB 128
static long buckets[40 * SUB];

void record(uint64_t us) {
  int power = 0;
  while (us >> power >= SUB * 2) power++;
  size_t place = (size_t)power * SUB + (size_t)(us >> power);
  if (place < sizeof buckets / sizeof *buckets) buckets[place]++;
}

double percentile(double share) {
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

/* CPU seconds of a process and of all below it, with those that have ended. */
double tree_cpu(int root) {
  static struct { int pid, parent, is_in; double ticks; } all[8192];
  int count = 0;
  DIR *folder = opendir("/proc");
  for (struct dirent *entry; (entry = readdir(folder)) && count < 8192;) {
    if (!isdigit((unsigned char)*entry->d_name)) continue;
    char path[300], text[1024];
    snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
    FILE *file = fopen(path, "r");
    if (!file) continue;
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    char *end = strrchr(text, ')');
    unsigned long use[4];
    if (!end || sscanf(end + 2, "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &all[count].parent, use,
                       use + 1, use + 2, use + 3) != 5) continue;
    all[count].pid = atoi(entry->d_name);
    all[count].is_in = all[count].pid == root;
    all[count++].ticks = (double)(use[0] + use[1] + use[2] + use[3]);
  }
  closedir(folder);
  double ticks = 0;
  for (int changed = 1; changed;) {
    changed = 0;
    for (int i = 0; i < count; i++)
      for (int j = 0; !all[i].is_in && j < count; j++)
        if (all[j].is_in && all[i].parent == all[j].pid) all[i].is_in = changed = 1;
  }
  for (int i = 0; i < count; i++)
    if (all[i].is_in) ticks += all[i].ticks;
  return ticks / (double)sysconf(_SC_CLK_TCK);
}

double own_cpu(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) + (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}
