/// A VFS for SQLite that tells of every write before it happens, and lets it fail. It lies over the system's own and
/// changes nothing for files outside one folder. <https://www.sqlite.org/vfs.html>

#ifndef CFAULTYDISK_H
#define CFAULTYDISK_H

#include <stdint.h>

typedef enum { FAULTY_WRITE, FAULTY_TRUNCATE, FAULTY_SYNC } faulty_operation;

/// Hears of an operation on a file before it is done; `data` is there for writes, `offset` is the new size for
/// truncations. Answers with SQLITE_OK to have it done, or with the error that SQLite gets instead.
typedef int (*faulty_hook)(void *context, const char *path, faulty_operation operation, const void *data, int size,
                           int64_t offset);

/// Makes the VFS the process's default, once.
int faulty_install(void);

/// Watches the files in a folder; one at a time. NULL ends it, and returns when no hook runs any more.
void faulty_watch(const char *folder, faulty_hook hook, void *context);

#endif
