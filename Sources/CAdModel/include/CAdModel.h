#pragma once
#include <stddef.h>

/// The weights of the advertising detector, as `make train-ads` writes them to `ad-model.bin`.
const unsigned char *ad_model_bytes(void);

/// Their size in bytes.
size_t ad_model_size(void);
