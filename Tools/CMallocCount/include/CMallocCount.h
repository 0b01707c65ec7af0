#pragma once

/// Returns the number of allocations of this process so far, from all threads. This target replaces the functions of glibc's
/// allocator by functions that count and call it.
unsigned long malloc_count(void);
