#ifndef SIGNALBOX_CSQLITE_H
#define SIGNALBOX_CSQLITE_H

// Declared here instead of including sqlite3.h: GRDB's module has that header, and Swift would see each name twice.
extern int sqlite3_config(int option, ...);

// SQLITE_CONFIG_MEMSTATUS of sqlite3.h. By default SQLite counts its memory under one lock for all
// connections, and the gateway does not use the counts. Variadic, so Swift cannot call it. Call it before any other
// SQLite function.
static inline int sb_sqlite_count_no_memory(void) { return sqlite3_config(9, 0); }

#endif
