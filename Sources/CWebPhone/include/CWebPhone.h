#pragma once
#include <stddef.h>

/// The number of files of the pages.
size_t web_phone_count(void);

/// The path of a file in its URL, as `phone/app.js`.
const char *web_phone_name(size_t index);

/// The bytes of a file.
const unsigned char *web_phone_bytes(size_t index);

/// The size of a file in bytes.
size_t web_phone_size(size_t index);
