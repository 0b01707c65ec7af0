#ifndef PUSHGATEWAY_CQRENCODE_H
#define PUSHGATEWAY_CQRENCODE_H

#include <qrencode.h>

#endif
