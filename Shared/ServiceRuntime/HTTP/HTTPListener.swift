import NIOCore
import ServiceLifecycle

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Nothing can be served: the address cannot be listened on.
struct HTTPListenError: Error, CustomStringConvertible {
    let description: String
}

/// The HTTP server as a service whose error says which address it could not have.
struct HTTPListener<Application: Service>: Service {
    let application: Application
    /// `HOST:PORT` as configured.
    let address: String

    func run() async throws {
        do {
            try await application.run()
        } catch let error as IOError {
            throw HTTPListenError(description: "cannot listen on \(address): \(HTTPListener.reason(error))")
        } catch let error as SocketAddressError {
            throw HTTPListenError(description: "cannot listen on \(address): \(error)")
        }
    }

    private static func reason(_ error: IOError) -> String {
        switch error.errnoCode {
        case EADDRINUSE: "the address is in use"
        case EACCES: "this user may not use the port"
        case EADDRNOTAVAIL: "this machine has no such address"
        default: "\(error)"
        }
    }
}
