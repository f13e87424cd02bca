import Foundation
import Hummingbird
import ServiceRuntime
import Synchronization

/// A service that listens on a port of this machine, and one connection to it.
///
/// Each request is written when the response to the one before has been read. So it costs the same each time: NIO, the
/// HTTP parser, the route and the response. The client is two system calls.
final class HTTPBench {
    private let connection: SocketConnection
    private let request: [UInt8]
    private let status: [UInt8]
    /// The length of a response. All responses have the same.
    private let length: Int

    init(
        router: Router<ServiceRequestContext>, direct: DirectRoutes?, context: ServiceContext, request: String,
        status: Int
    ) async throws {
        let (ports, found) = AsyncStream<Int>.makeStream()
        let application = try makeHTTPApplication(
            router: router, direct: direct, configuration: HTTPConfiguration(port: 0), context: context
        ) { port in
            found.yield(port)
        }
        Task { try await application.run() }
        guard let port = await ports.first(where: { _ in true }) else { throw Unexpected("The service has ended.") }
        connection = try SocketConnection(port: port)
        self.request = Array(request.utf8)
        self.status = Array("HTTP/1.1 \(status) ".utf8)
        try connection.write(self.request)
        let response = try connection.readResponse()
        guard response.starts(with: self.status) else {
            throw Unexpected("The response is \(String(decoding: response, as: UTF8.self)).")
        }
        length = response.count
    }

    /// Sends the request and reads the response, again and again.
    func run(_ count: Int) throws {
        for _ in 0..<count {
            try connection.write(request)
            guard try connection.read(length).starts(with: status) else { throw Unexpected("The status differs.") }
        }
    }
}

/// A blocking TCP connection to this machine.
final class SocketConnection {
    let descriptor: Int32
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafeBytes(of: &address) { bytes in
            connect(
                descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                socklen_t(MemoryLayout<sockaddr_in>.size))
        }
        guard result == 0 else { throw Unexpected("There is no connection to port \(port).") }
    }

    func write(_ bytes: [UInt8]) throws {
        guard Foundation.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Unexpected("The request was not written.")
        }
    }

    /// Reads this number of bytes.
    func read(_ count: Int) throws -> UnsafeRawBufferPointer {
        var done = 0
        while done < count {
            let more = Foundation.read(descriptor, buffer.baseAddress! + done, count - done)
            guard more > 0 else { throw Unexpected("The connection has ended.") }
            done += more
        }
        return UnsafeRawBufferPointer(rebasing: buffer[..<count])
    }

    /// Reads a response by its `Content-Length`.
    func readResponse() throws -> [UInt8] {
        var response: [UInt8] = []
        while true {
            response += try read(1)
            guard response.suffix(4) == [13, 10, 13, 10] else { continue }
            let head = String(decoding: response, as: UTF8.self).lowercased()
            guard let field = head.firstMatch(of: /content-length: ([0-9]+)/), let length = Int(field.1) else {
                throw Unexpected("The response has no length: \(head)")
            }
            return response + (try read(length))
        }
    }
}
