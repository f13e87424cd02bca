import NIOCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// How many event loops there are.
enum EventLoops {
    /// One loop for each core that the process may use. NIO counts all cores of the machine, and loops that share one
    /// only take it from each other. To be called before anything listens.
    static func fitToProcess() {
        if let count = usableCores { NIOSingletons.groupLoopCountSuggestion = count }
    }

    /// The cores that `taskset` or a container's set of CPUs leaves to the process; nil when the system does not say.
    static var usableCores: Int? {
        #if os(Linux)
        // Not in Swift's Glibc module, hence the look-up. The mask has 1024 bits, as glibc's own.
        typealias GetAffinity = @convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> Int32
        guard let handle = dlopen(nil, RTLD_NOW), let symbol = dlsym(handle, "sched_getaffinity") else {
            return nil
        }
        let getAffinity = unsafeBitCast(symbol, to: GetAffinity.self)
        var mask = [UInt64](repeating: 0, count: 16)
        guard getAffinity(0, mask.count * MemoryLayout<UInt64>.size, &mask) == 0 else { return nil }
        let count = mask.reduce(0) { $0 + $1.nonzeroBitCount }
        return count > 0 ? count : nil
        #else
        return nil
        #endif
    }
}
