#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Carries the closure to the new thread.
private final class ThreadBody {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}

/// Starts a detached thread.
///
/// - Throws: ``ThreadResourceError`` if the system allows no more threads.
func startThread(named name: String, _ run: @escaping @Sendable () -> Void) throws(ThreadResourceError) {
    let body = Unmanaged.passRetained(ThreadBody(name: name, run: run))
    #if canImport(Glibc)
    var thread = pthread_t()
    let error = pthread_create(&thread, nil, { threadMain($0!) }, body.toOpaque())
    #else
    var thread: pthread_t?
    let error = pthread_create(&thread, nil, { threadMain($0) }, body.toOpaque())
    #endif
    guard error == 0 else {
        body.release()
        throw ThreadResourceError("cannot start a thread: \(String(cString: strerror(error)))")
    }
    #if canImport(Glibc)
    pthread_detach(thread)
    #else
    if let thread { pthread_detach(thread) }
    #endif
}

private func threadMain(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let body = Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
    nameThread(body.name)
    body.run()
    return nil
}

private func nameThread(_ name: String) {
    #if canImport(Glibc)
    // pthread_setname_np is a GNU extension, which Swift's Glibc module does not export. The file
    // /proc/thread-self/comm would do, but it belongs to root once the process hides its memory.
    typealias SetName = @convention(c) (pthread_t, UnsafePointer<CChar>) -> Int32
    guard let symbol = dlsym(nil, "pthread_setname_np") else { return }
    _ = unsafeBitCast(symbol, to: SetName.self)(pthread_self(), String(decoding: name.utf8.prefix(15), as: UTF8.self))
    #else
    pthread_setname_np(name)
    #endif
}
