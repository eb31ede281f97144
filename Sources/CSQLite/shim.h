#ifndef SIGNALBOX_CSQLITE_H
#define SIGNALBOX_CSQLITE_H

// Declared here instead of including sqlite3.h: GRDB's module has that header, and Swift would see each name twice.
extern int sqlite3_config(int option, ...);

// SQLITE_CONFIG_MEMSTATUS of sqlite3.h. By default SQLite counts its memory under one lock for all
// connections, and the gateway does not use the counts. Variadic, so Swift cannot call it. Call it before any other
// SQLite function.
static inline int sb_sqlite_count_no_memory(void) { return sqlite3_config(9, 0); }

// Sets sqlite3_temp_directory of sqlite3.h, where SQLite creates its temporary files. SQLite uses a directory of the
// system instead while this one is missing or not writable. Call it once, before the first connection is opened.
// Declared inside, so that Swift does not see the names of GRDB's module twice.
static inline void sb_sqlite_set_temporary_directory(const char *path) {
    extern char *sqlite3_temp_directory;
    extern char *sqlite3_mprintf(const char *format, ...);
    sqlite3_temp_directory = sqlite3_mprintf("%s", path);
}

#endif
