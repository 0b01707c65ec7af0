#ifndef PUSHGATEWAY_CNATS_H
#define PUSHGATEWAY_CNATS_H

#include <nats/nats.h>

#endif
