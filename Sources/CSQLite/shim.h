#ifndef SIGNALBOX_CSQLITE_H
#define SIGNALBOX_CSQLITE_H

// Declared here and not by sqlite3.h, which GRDB's module has: one header in two modules is two sets of names to Swift.
extern int sqlite3_config(int option, ...);

// SQLITE_CONFIG_MEMSTATUS of sqlite3.h. SQLite counts its memory under one lock for all connections unless told
// otherwise, and nobody asks for the figures. Variadic, so Swift cannot call it. To be called before any other function.
static inline int sb_sqlite_count_no_memory(void) { return sqlite3_config(9, 0); }

#endif
