#include "CVersion.h"

// The version that these sources become. Where the build names one (scripts/version: the tag's, or this one and the commit), that.
#ifndef PUSHGATEWAY_VERSION
#define PUSHGATEWAY_VERSION "0.2.0"
#endif

const char *pushgateway_version(void) { return PUSHGATEWAY_VERSION; }
