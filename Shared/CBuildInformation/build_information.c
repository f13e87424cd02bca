#include "build_information.h"

const char *securepush_revision(void) { return SECUREPUSH_REVISION; }
