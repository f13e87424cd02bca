import SecurePushCore
import ServiceConfiguration

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The `process_...` metrics that Prometheus's client libraries agree on, and `securepush_build_info`. All but the last
/// are for Linux only, where `/proc` has them.
enum ProcessMetrics {
    static func register(in service: ServiceContext) {
        let metrics = service.metrics
        metrics.observe(
            "securepush_build_info",
            labels: [("version", service.version), ("service", service.name), ("swift", SecurePushVersion.swift)]
        ) { 1 }
        #if os(Linux)
        registerProcess(in: metrics)
        #endif
    }

    #if os(Linux)
    private static func registerProcess(in metrics: PrometheusMetrics) {
        metrics.observe("process_resident_memory_bytes") { residentBytes() }
        metrics.observe("process_cpu_seconds_total", kind: .counter) { cpuSeconds() }
        let start = startTime()
        metrics.observe("process_start_time_seconds") { start }
    }

    /// The second field of `/proc/self/statm`, in pages.
    static func residentBytes() -> Double? {
        guard let text = SmallFile.contents(of: "/proc/self/statm") else { return nil }
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Double(fields[1]) else { return nil }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    static func cpuSeconds() -> Double? {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return nil }
        return Double(time.tv_sec) + Double(time.tv_nsec / 1000) / 1_000_000
    }

    /// Now, less the age of the process: field 22 of `/proc/self/stat` is its start in clock ticks since boot.
    static func startTime() -> Double? {
        guard let text = SmallFile.contents(of: "/proc/self/stat"), let end = text.lastIndex(of: ")") else {
            return nil
        }
        // The name in brackets may hold spaces; the field after it is the third.
        let fields = text[text.index(after: end)...].split(separator: " ")
        var boot = timespec()
        guard fields.count > 19, let ticks = Double(fields[19]), clock_gettime(CLOCK_BOOTTIME, &boot) == 0 else {
            return nil
        }
        let age = Double(boot.tv_sec) - ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        return (Double(Timestamp.now.seconds) - age).rounded()
    }
    #endif
}
