#include "CAdModel.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char model[] = {
#embed "ad-model.bin"
};

const unsigned char *ad_model_bytes(void) { return model; }

size_t ad_model_size(void) { return sizeof model; }
