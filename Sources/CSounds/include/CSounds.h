#pragma once
#include <stddef.h>

/// How many sounds there are.
size_t sound_count(void);

/// A sound's name.
const char *sound_name(size_t index);

/// A sound as a WAV file of 16-bit samples, mono, as `scripts/sounds` writes it.
const unsigned char *sound_bytes(size_t index);

/// The file's size in bytes.
size_t sound_size(size_t index);
