// What Swift needs of libpq.
#ifndef SECUREPUSH_CLIBPQ_SHIM_H
#define SECUREPUSH_CLIBPQ_SHIM_H
#include <libpq-fe.h>
#endif
