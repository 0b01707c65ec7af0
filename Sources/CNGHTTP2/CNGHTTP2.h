#ifndef PUSHGATEWAY_CNGHTTP2_H
#define PUSHGATEWAY_CNGHTTP2_H

#include <nghttp2/nghttp2.h>

// malloc_usable_size, for the memory that nghttp2 is given.
#include <malloc.h>

#endif
