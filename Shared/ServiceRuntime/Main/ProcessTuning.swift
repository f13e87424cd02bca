#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Process-wide settings, applied once before anything else runs.
enum ProcessTuning {
    static func apply() {
        // A peer that has gone away is an error of write(2), not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // SIGHUP reloads and never ends a service, not even while it starts; ReloadService listens to it.
        signal(SIGHUP, SIG_IGN)
        raiseFileLimit()
        limitHeap()
    }

    /// A connection is a descriptor: take all that the system allows without asking.
    static func raiseFileLimit() {
        #if os(Linux)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        setrlimit(resource, &limit)
        #endif
    }

    /// Keeps resident memory low on glibc: the goal is at most 40 MiB a service when idle and 80 MiB at its peak.
    ///
    /// By default glibc gives up to eight arenas a core to threads that meet in `malloc`, each with its own free lists
    /// that are hardly ever given back; two are enough for the few threads of a service. And it raises its thresholds
    /// with every large block that is freed, after which neither large blocks nor the top of the heap return to the
    /// system; setting them keeps them where they are. `mallopt` is not in Swift's Glibc module, hence the look-up.
    static func limitHeap() {
        #if os(Linux) && canImport(Glibc)
        typealias Mallopt = @convention(c) (Int32, Int32) -> Int32
        guard let handle = dlopen(nil, RTLD_NOW), let symbol = dlsym(handle, "mallopt") else { return }
        let mallopt = unsafeBitCast(symbol, to: Mallopt.self)
        // Numbers from malloc.h: M_ARENA_MAX, M_TRIM_THRESHOLD, M_MMAP_THRESHOLD.
        _ = mallopt(-8, 2)
        _ = mallopt(-1, 256 * 1024)
        _ = mallopt(-3, 256 * 1024)
        #endif
    }
}
