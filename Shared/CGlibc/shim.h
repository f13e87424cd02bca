// What Swift's Glibc module leaves out: the settings of malloc, and prctl(2), whose arguments vary.
#ifndef SECUREPUSH_CGLIBC_SHIM_H
#define SECUREPUSH_CGLIBC_SHIM_H
#include <malloc.h>
#include <sys/prctl.h>

// No core is written, and no other process of the same user reads the memory.
static inline int securepush_hide_memory(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
#endif
