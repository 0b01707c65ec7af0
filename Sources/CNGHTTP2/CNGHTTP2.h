#ifndef PUSHGATEWAY_CNGHTTP2_H
#define PUSHGATEWAY_CNGHTTP2_H

#include <nghttp2/nghttp2.h>

#endif
