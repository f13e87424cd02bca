// Facts of the build that no source file holds. They are in a target of their own, so that another revision compiles
// one line of C and nothing else.
#ifndef SECUREPUSH_BUILD_INFORMATION_H
#define SECUREPUSH_BUILD_INFORMATION_H
// The git revision that was built, or "unknown".
const char *securepush_revision(void);
#endif
