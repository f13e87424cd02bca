// What Swift's Glibc module leaves out: the settings of malloc, the list of loaded objects, and prctl(2), whose
// arguments vary.
#ifndef SECUREPUSH_CGLIBC_SHIM_H
#define SECUREPUSH_CGLIBC_SHIM_H
#include <link.h>
#include <malloc.h>
#include <sys/prctl.h>

// The beginning of `struct dl_phdr_info` (dl_iterate_phdr(3)). <link.h> declares it and the function for _GNU_SOURCE
// only, with which Swift could not import this module beside its own Glibc.
struct securepush_object {
    ElfW(Addr) address;
    const char *name;
    const ElfW(Phdr) *segments;
    ElfW(Half) count;
};

typedef int (*securepush_object_visitor)(struct securepush_object *, size_t, void *);

extern int securepush_each_object(securepush_object_visitor visit, void *data) __asm__("dl_iterate_phdr");

// No core is written, and no other process of the same user reads the memory.
static inline int securepush_hide_memory(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
#endif
