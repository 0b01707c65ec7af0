#pragma once

/// Returns the number of allocations of this process so far. This target replaces glibc's allocator by one that counts.
unsigned long malloc_count(void);
