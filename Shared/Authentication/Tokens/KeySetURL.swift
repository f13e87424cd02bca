internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import ServiceConfiguration

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A URL that a key set may be fetched from.
struct KeySetURL: Sendable {
    private let url: String

    /// - Parameter isInsecureAllowed: whether http to another machine is taken (`ALLOW_INSECURE=jwks`).
    /// - Throws: ``AuthenticationSetupError`` `invalid` unless the URL is https, or http to this machine.
    init(_ text: String, isInsecureAllowed: Bool = false) throws {
        guard let url = URL(string: text), let host = url.host(), !host.isEmpty,
            url.scheme == "https" || url.scheme == "http" && (isInsecureAllowed || InsecureLink.isLoopback(host))
        else {
            throw AuthenticationSetupError(
                .invalid, "not an https URL (http beyond loopback needs ALLOW_INSECURE=jwks)")
        }
        self.url = text
    }

    /// How long a fetch may take from end to end.
    static let deadline = Duration.seconds(5)
    /// How large a document may be, in bytes.
    static let maximumSize = 512 * 1024

    /// The document. Redirects are not followed: they could leave https.
    func fetch() async throws -> [UInt8] {
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            group.addTask { try await request() }
            group.addTask {
                // The client's own deadline ends with the answer's head.
                try await Task.sleep(for: Self.deadline)
                throw AuthenticationSetupError(.unreadable, "no whole answer within \(Self.deadline)")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }

    private func request() async throws -> [UInt8] {
        // A client of its own each time: once in minutes, and nothing to shut down later.
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: OutgoingTLS.configuration, redirectConfiguration: .disallow)
        configuration.timeout = .init(connect: .seconds(3), read: .seconds(4))
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            var request = HTTPClientRequest(url: url)
            request.headers.add(name: "accept", value: "application/jwk-set+json, application/json")
            let response = try await client.execute(request, timeout: .seconds(5))
            guard response.status == .ok else {
                throw AuthenticationSetupError(.unreadable, "the answer is \(response.status.code)")
            }
            return Array(buffer: try await response.body.collect(upTo: Self.maximumSize))
        }
    }
}
