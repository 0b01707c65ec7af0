#pragma once

/// How often this process has asked for memory so far. Linking this target puts a count before glibc's allocator.
unsigned long malloc_count(void);
