import Dispatch
import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Looks names up on separate threads, because a look-up blocks its thread until the resolver answers. Results are not
/// cached, because push services change their addresses.
final class NameLookups: Sendable {
    /// The maximum of look-ups at a time: names come from devices, and their servers may be silent.
    static let limit = 64

    private let running = Mutex(0)

    /// Calls `body` with a thread to block.
    ///
    /// - Returns: false if too many look-ups are in progress.
    func run(_ body: @escaping @Sendable () -> Void) -> Bool {
        let isFree = running.withLock { running in
            guard running < Self.limit else { return false }
            running += 1
            return true
        }
        guard isFree else { return false }
        DispatchQueue(label: "securepush.push.lookup").async {
            body()
            self.running.withLock { $0 -= 1 }
        }
        return true
    }

    /// The addresses of a name, in the order of RFC 6724; or the address itself if the text is one.
    ///
    /// - Throws: ``PushDialError/noAddress``.
    static func addresses(of host: String, port: Int) throws -> [SocketAddress] {
        var hints = addrinfo()
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &list) == 0 else { throw PushDialError.noAddress }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = list
        while let info = entry?.pointee {
            entry = info.ai_next
            guard let address = info.ai_addr else { continue }
            switch info.ai_family {
            case AF_INET:
                address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    addresses.append(SocketAddress($0.pointee))
                }
            case AF_INET6:
                address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    addresses.append(SocketAddress($0.pointee))
                }
            default: break
            }
        }
        return addresses
    }
}

/// Gives NIO the addresses of an origin that connections may be made to.
final class GuardedResolver: Resolver, Sendable {
    private let origin: PushOrigin
    private let settings: PushDial.Settings
    private let v4: EventLoopPromise<[SocketAddress]>
    private let v6: EventLoopPromise<[SocketAddress]>

    init(_ origin: PushOrigin, settings: PushDial.Settings, eventLoop: any EventLoop) {
        self.origin = origin
        self.settings = settings
        v4 = eventLoop.makePromise()
        v6 = eventLoop.makePromise()
    }

    /// Begins the look-up. It gives both kinds of addresses.
    func start() {
        let isRunning = settings.lookups.run {
            do {
                let addresses = try self.allowed()
                self.v6.succeed(addresses.filter { $0.protocol == .inet6 })
                self.v4.succeed(addresses.filter { $0.protocol == .inet })
            } catch {
                self.fail(error)
            }
        }
        if !isRunning { fail(PushDialError.tooManyLookups) }
    }

    private func allowed() throws -> [SocketAddress] {
        let configuration = settings.configuration
        let addresses = try configuration.lookUp(origin.host, origin.port)
        guard !addresses.isEmpty else { throw PushDialError.noAddress }
        let allowed = addresses.filter { configuration.isAllowed($0, origin) }
        guard !allowed.isEmpty else { throw PushDialError.addressNotAllowed }
        return allowed
    }

    private func fail(_ error: any Error) {
        v6.fail(error)
        v4.fail(error)
    }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { v4.futureResult }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { v6.futureResult }

    /// `getaddrinfo` cannot be stopped.
    func cancelQueries() {}
}
