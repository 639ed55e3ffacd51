// sqlite3.h as Swift imports it, and the calls whose SQLITE_TRANSIENT (a cast of -1 to a function pointer) it cannot import.
#pragma once
#include <sqlite3.h>

/// Binds a copy of `count` bytes of UTF-8.
static inline int hearth_sqlite3_bind_text_copy(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

/// Binds a copy of `count` bytes; an empty blob, not null, when there are none.
static inline int hearth_sqlite3_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}
