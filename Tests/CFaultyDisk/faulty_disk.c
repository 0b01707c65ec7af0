#include "CFaultyDisk.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

static struct {
  pthread_mutex_t mutex;
  char folder[512];
  faulty_hook hook;
  void *context;
} watched = {.mutex = PTHREAD_MUTEX_INITIALIZER};

typedef struct {
  sqlite3_file base;
  const char *path; // SQLite keeps it for as long as the file is open
  sqlite3_file *real;
} faulty_file;

static sqlite3_vfs *system_vfs;
static sqlite3_vfs vfs;
static sqlite3_file *real(sqlite3_file *file) { return ((faulty_file *)file)->real; }

static int tell(sqlite3_file *file, faulty_operation operation, const void *data, int size, sqlite3_int64 offset) {
  // Held during the call: faulty_watch() must not return, and its caller free the context, while the hook runs.
  pthread_mutex_lock(&watched.mutex);
  int code = watched.hook
      ? watched.hook(watched.context, ((faulty_file *)file)->path, operation, data, size, offset) : SQLITE_OK;
  pthread_mutex_unlock(&watched.mutex);
  return code;
}

static int file_close(sqlite3_file *f) { return real(f)->pMethods ? real(f)->pMethods->xClose(real(f)) : SQLITE_OK; }
static int file_read(sqlite3_file *f, void *data, int size, sqlite3_int64 offset) {
  return real(f)->pMethods->xRead(real(f), data, size, offset);
}
static int file_write(sqlite3_file *f, const void *data, int size, sqlite3_int64 offset) {
  int code = tell(f, FAULTY_WRITE, data, size, offset);
  return code != SQLITE_OK ? code : real(f)->pMethods->xWrite(real(f), data, size, offset);
}
static int file_truncate(sqlite3_file *f, sqlite3_int64 size) {
  int code = tell(f, FAULTY_TRUNCATE, NULL, 0, size);
  return code != SQLITE_OK ? code : real(f)->pMethods->xTruncate(real(f), size);
}
static int file_sync(sqlite3_file *f, int flags) {
  int code = tell(f, FAULTY_SYNC, NULL, 0, 0);
  return code != SQLITE_OK ? code : real(f)->pMethods->xSync(real(f), flags);
}
static int file_size(sqlite3_file *f, sqlite3_int64 *size) { return real(f)->pMethods->xFileSize(real(f), size); }
static int file_lock(sqlite3_file *f, int level) { return real(f)->pMethods->xLock(real(f), level); }
static int file_unlock(sqlite3_file *f, int level) { return real(f)->pMethods->xUnlock(real(f), level); }
static int file_reserved(sqlite3_file *f, int *out) { return real(f)->pMethods->xCheckReservedLock(real(f), out); }
static int file_control(sqlite3_file *f, int code, void *value) {
  return real(f)->pMethods->xFileControl(real(f), code, value);
}
static int file_sector(sqlite3_file *f) { return real(f)->pMethods->xSectorSize(real(f)); }
// No promises: a write may be torn, and may come before another.
static int file_characteristics(sqlite3_file *f) { (void)f; return 0; }
static int file_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
  return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
}
static int file_shm_lock(sqlite3_file *f, int offset, int count, int flags) {
  return real(f)->pMethods->xShmLock(real(f), offset, count, flags);
}
static void file_shm_barrier(sqlite3_file *f) { real(f)->pMethods->xShmBarrier(real(f)); }
static int file_shm_unmap(sqlite3_file *f, int remove) { return real(f)->pMethods->xShmUnmap(real(f), remove); }

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static int vfs_open(sqlite3_vfs *self, sqlite3_filename path, sqlite3_file *f, int flags, int *out) {
  (void)self;
  pthread_mutex_lock(&watched.mutex);
  int isWatched = watched.hook && path && strncmp(path, watched.folder, strlen(watched.folder)) == 0;
  pthread_mutex_unlock(&watched.mutex);
  if (!isWatched || !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL))) {
    return system_vfs->xOpen(system_vfs, path, f, flags, out);
  }
  faulty_file *file = (faulty_file *)f;
  file->path = path;
  file->real = (sqlite3_file *)(file + 1);
  int code = system_vfs->xOpen(system_vfs, path, file->real, flags, out);
  f->pMethods = code == SQLITE_OK ? &methods : NULL;
  return code;
}

int faulty_install(void) {
  if (system_vfs) return SQLITE_OK;
  system_vfs = sqlite3_vfs_find(NULL);
  vfs = *system_vfs;
  vfs.zName = "faulty";
  vfs.szOsFile = (int)sizeof(faulty_file) + system_vfs->szOsFile;
  vfs.xOpen = vfs_open;
  return sqlite3_vfs_register(&vfs, 1);
}

void faulty_watch(const char *folder, faulty_hook hook, void *context) {
  pthread_mutex_lock(&watched.mutex);
  strncpy(watched.folder, folder ? folder : "", sizeof(watched.folder) - 1);
  watched.hook = folder ? hook : NULL;
  watched.context = context;
  pthread_mutex_unlock(&watched.mutex);
}
