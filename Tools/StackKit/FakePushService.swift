import Foundation
import NIOHTTP1

/// A strict push service of `scripts/push-services.sh`, which stands in for those of a vendor. It checks pushes as the real
/// one does, remembers them and its refusals, and has faults.
package struct FakePushService: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// Those of browsers. It verifies tokens by py-vapid, and decrypts by http_ece.
        case webPush = "web-push"
        /// Apple's, of one environment.
        case apns
        /// Google's, with its OAuth token endpoint.
        case fcm
        /// Microsoft's, with the token endpoints of both kinds of apps. It speaks HTTP/1.1 only.
        case wns
    }

    package let kind: Kind
    /// `https://localhost:PORT`, where pushes go.
    package let origin: String
    /// The port of `origin`.
    package let port: Int
    /// The origin of the token endpoints of `fcm` (`/token`) and `wns` (`/accesstoken.srf` and
    /// `/TENANT/oauth2/v2.0/token`); `origin` for the other kinds, which have none.
    package let tokenOrigin: String
    /// A PEM file with the authority of its certificate.
    package let authorityFile: String
    /// The text of ``authorityFile``.
    package func authorities() throws -> String { try String(contentsOfFile: authorityFile, encoding: .utf8) }
    private let adminPort: Int
    private static let http = LoopbackHTTP(connections: 8)

    /// Makes devices.
    ///
    /// - Parameter platform: of the kind of this service.
    package func devices(_ count: Int, _ platform: Platform) async throws -> [Device] {
        struct Made: Decodable { let devices: [Device] }
        let json = try Self.json(MadeDevices(count: count, platform: platform))
        return try await admin(.POST, "/devices", json).decoded(Made.self).devices
    }

    /// Makes one device.
    package func device(_ platform: Platform) async throws -> Device {
        struct NoDevice: Error {}
        guard let device = try await devices(1, platform).first else { throw NoDevice() }
        return device
    }

    /// From now on pushes to the device are refused, because it is gone.
    ///
    /// - Parameter since: what APNs calls the time, in milliseconds since 1970; by default now.
    package func end(_ device: Device, since: Int64? = nil) async throws {
        try await admin(.POST, "/devices/\(device.id)/gone", since.map { #"{"since":\#($0)}"# } ?? "{}")
    }

    /// The credentials that are valid from now on, in place of all before. Without any, every push is refused (Web Push
    /// needs none).
    ///
    /// Access tokens that were given for a credential that is gone are refused from now on.
    package func setCredentials(_ credentials: [Credential]) async throws {
        try await admin(.PUT, "/credentials", try Self.json(["credentials": credentials]))
    }

    /// Every access token that was given until now is refused from now on, as one that has expired.
    package func expireTokens() async throws { try await admin(.POST, "/tokens/expire") }

    /// How long access tokens are valid that are given from now on.
    ///
    /// - Parameter asText: write the number in quotes, as Entra does in some answers.
    package func setTokenLifetime(seconds: Int, asText: Bool = false) async throws {
        try await admin(.PUT, "/settings", #"{"tokenSeconds":\#(seconds),"tokenSecondsAsText":\#(asText)}"#)
    }

    /// The accepted pushes from a number on, in their order.
    ///
    /// - Parameter limit: at most 10,000.
    package func pushes(from number: Int = 0, limit: Int = 10_000) async throws -> [Push] {
        struct List: Decodable { let pushes: [Push] }
        return try await admin(.GET, "/pushes?after=\(number)&limit=\(limit)").decoded(List.self).pushes
    }

    /// The last 1,000 refusals, without the faults.
    package func refusals() async throws -> [Refusal] {
        struct List: Decodable { let refusals: [Refusal] }
        return try await admin(.GET, "/refusals").decoded(List.self).refusals
    }

    package func state() async throws -> State { try await admin(.GET, "/state").decoded() }

    /// The statuses and reasons that the real service is known to answer with.
    package func knownAnswers() async throws -> [KnownAnswer] {
        struct List: Decodable { let answers: [KnownAnswer] }
        return try await admin(.GET, "/answers").decoded(List.self).answers
    }

    /// Forgets pushes, refusals, problems and counts.
    package func forget() async throws { try await admin(.DELETE, "/pushes") }

    /// The answers to the next requests that are in order: elements of a JSON array such as
    /// `{"status":410,"reason":"Unregistered"}`, which gets the headers and the body that the vendor writes,
    /// `{"status":429,"headers":{"Retry-After":"7"},"body":""}`, or `{"fault":"silence"}`; see
    /// `scripts/push-services/faults.py`.
    package func answerNext(_ answers: [String], at endpoint: Endpoint = .push) async throws {
        let json = #"{"answers":[\#(answers.joined(separator: ","))]}"#
        try await admin(.POST, "/next?at=\(endpoint.rawValue)", json)
    }

    /// Rates of faults, a JSON object such as `{"serverError":0.2,"throttled":0.1,"retryAfter":1,"seed":7}`.
    package func setFaults(_ rates: String, at endpoint: Endpoint = .push) async throws {
        try await admin(.PUT, "/faults?at=\(endpoint.rawValue)", rates)
    }

    /// SETTINGS_MAX_CONCURRENT_STREAMS of all connections (APNs: once a first push was answered).
    package func setMaxStreams(_ number: Int) async throws {
        try await admin(.PUT, "/settings", #"{"maxStreams":\#(number)}"#)
    }

    private static func json(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    @discardableResult
    private func admin(
        _ method: HTTPMethod, _ path: String, _ json: String? = nil
    ) async throws -> LoopbackHTTP.Response {
        let response = try await Self.http.send(method, port: adminPort, path, json: json, timeout: patience)
        guard response.status == 200 else { throw Refused(status: response.status, body: response.body) }
        return response
    }

    /// The admin API does not know the request.
    private struct Refused: Error {
        let status: Int
        let body: String
    }

    /// Waits until the program has printed where it listens.
    init(_ kind: Kind, started program: Program, output: URL) async throws {
        struct NotListening: Error { let output: String }
        func printed() -> String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }
        let pattern =
            #/listening on (https:\/\/[^ ]*:(\d+)), tokens on (https:[^ ]*), admin on http:\/\/127\.0\.0\.1:(\d+), authority (.+)\n/#
        _ = try await eventually { try pattern.firstMatch(in: printed()) != nil || !program.isRunning }
        guard let match = try pattern.firstMatch(in: printed()), let port = Int(match.2), let admin = Int(match.4)
        else { throw NotListening(output: printed()) }
        (self.kind, origin, self.port, tokenOrigin) = (kind, String(match.1), port, String(match.3))
        (adminPort, authorityFile) = (admin, String(match.5))
    }
}
