import ServiceLifecycle

#if canImport(Glibc)
import CGlibc
import Glibc
#endif

/// The pages of code and constants that a process has mapped: of its executable and of its libraries.
enum ResidentCode {
    /// Unmaps them all. A page that is used again is mapped again from the page cache.
    ///
    /// Only segments that the program may not write are touched, so each page equals the file. Segments with
    /// relocations are writable ones, and keep theirs. The kernel does the same when memory is short; the page cache
    /// stays. On other systems than Linux with glibc, this does nothing.
    static func release() {
        #if canImport(Glibc)
        _ = securepush_each_object(
            { object, _, _ in
                if let object = object?.pointee { ResidentCode.release(object) }
                return 0
            }, nil)
        #endif
    }

    #if canImport(Glibc)
    private static func release(_ object: securepush_object) {
        guard let segments = object.segments else { return }
        // PT_LOAD and PF_W of elf(5), which are macros.
        let (loaded, writable): (UInt32, UInt32) = (1, 2)
        let page = UInt(getpagesize())
        for segment in UnsafeBufferPointer(start: segments, count: Int(object.count)) {
            guard segment.p_type == loaded, segment.p_flags & writable == 0 else { continue }
            let start = UInt(object.address) + UInt(segment.p_vaddr)
            let first = start / page * page
            let end = (start + UInt(segment.p_memsz) + page - 1) / page * page
            _ = madvise(UnsafeMutableRawPointer(bitPattern: first), Int(end - first), MADV_DONTNEED)
        }
    }
    #endif
}

/// Unmaps the code that only the start needed, once, a second after the services began to start.
///
/// Half of a service's resident memory was code and tables that nothing uses after the start: those of the dynamic
/// linker, of the initialisers of libpq's libraries (GnuTLS, Kerberos, LDAP), and of our own composition.
struct StartCodeService: Service {
    /// Long enough for most starts. Nothing waits for it, and a later end of the start does no harm.
    static let delay = Duration.seconds(1)

    /// Ends with the graceful shutdown, which it does not delay.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            guard (try? await Task.sleep(for: Self.delay)) != nil else { return }
            ResidentCode.release()
        }
        // A service that returns earlier would end the group.
        try? await gracefulShutdown()
    }
}
