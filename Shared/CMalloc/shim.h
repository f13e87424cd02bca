// glibc's malloc settings, which Swift's Glibc module leaves out.
#ifndef SECUREPUSH_CMALLOC_SHIM_H
#define SECUREPUSH_CMALLOC_SHIM_H
#include <malloc.h>
#endif
