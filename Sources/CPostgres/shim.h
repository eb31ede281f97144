#ifndef SIGNALBOX_CPOSTGRES_H
#define SIGNALBOX_CPOSTGRES_H

// A version-dependent path of the system; pkg-config has the directory.
#include <libpq-fe.h>

#endif
