#ifndef PUSHGATEWAY_CSQLITESESSION_H
#define PUSHGATEWAY_CSQLITESESSION_H

// sqlite3.h declares the session extension only where it is asked to; Debian's library has it.
#define SQLITE_ENABLE_SESSION 1
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include <sqlite3.h>

#endif
