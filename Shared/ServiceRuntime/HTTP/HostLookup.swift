import Dispatch
import Foundations
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Looks up the name of a host to listen on, for a limited time: a name server that does not answer would hold the
/// start.
final class HostLookup: Sendable {
    static let limit = DispatchTimeInterval.seconds(5)

    private let caller = Mutex<CheckedContinuation<String?, Never>?>(nil)

    private init(_ caller: CheckedContinuation<String?, Never>) { self.caller.withLock { $0 = caller } }

    /// Why nothing can listen on a host; `nil` if it is an address, or a name that has one.
    static func problem(of host: String) async -> String? {
        if ClientAddress(host) != nil { return nil }
        return await withCheckedContinuation { caller in
            let lookup = HostLookup(caller)
            // Threads of their own: the lookup blocks its thread.
            DispatchQueue(label: "securepush.lookup").async { lookup.end(find(host)) }
            DispatchQueue(label: "securepush.lookup.limit").asyncAfter(deadline: .now() + limit) {
                lookup.end("names a host that no name server has found within 5 s")
            }
        }
    }

    private func end(_ problem: String?) {
        let caller = caller.withLock { caller in
            defer { caller = nil }
            return caller
        }
        caller?.resume(returning: problem)
    }

    private static func find(_ host: String) -> String? {
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, nil, &list)
        guard code != 0 else {
            freeaddrinfo(list)
            return nil
        }
        return "names a host that cannot be found: \(String(cString: gai_strerror(code)))"
    }
}
