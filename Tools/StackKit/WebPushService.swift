package import Foundation
import NIOHTTP1

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The strict push service of `scripts/web-push-service.sh`, which stands in for those of browsers: it verifies tokens by
/// py-vapid, decrypts by http_ece, and has faults.
package struct WebPushService: Sendable {
    /// `https://localhost:PORT`, of all endpoints.
    package let origin: String
    /// The port of `origin`.
    package let port: Int
    /// A PEM file with the authority of its certificate.
    package let authorityFile: String
    private let adminPort: Int
    private static let http = LoopbackHTTP(connections: 8)

    /// A subscription that the service has made, with its keys in base64url.
    package struct Device: Sendable, Decodable {
        package let id, endpoint, p256dh, auth: String
    }

    /// A push that the service has accepted.
    package struct Push: Sendable, Decodable {
        package let number: Int
        package let subscription: String
        package let time: Double
        package let ttl: Int
        package let urgency: String
        package let topic: String?
        /// The sender's public key in base64url.
        package let key: String
        /// The size of the encrypted body.
        package let size: Int
        /// `sent`, `lost` if the sender got no answer, or `doubtful` if it may have got none.
        package let answer: String
        private let base64: String?

        /// What http_ece decrypted; `nil` if the service decrypts only some pushes.
        package var body: [UInt8]? { base64.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) } }
        /// The body as UTF-8.
        package var text: String? { body.map { String(decoding: $0, as: UTF8.self) } }
    }

    /// A push that the service has refused, beside its faults.
    package struct Refusal: Sendable, Decodable {
        package let status: Int
        package let reason, detail: String
    }

    package struct State: Sendable, Decodable {
        /// Such as `requests.all`, `accepted.all`, `connections.h2`, `refused.410 Unregistered`, `faults.503`.
        package let counts: [String: Int]
        /// Mistakes of the sender that no answer can tell, such as more streams than SETTINGS allow.
        package let problems: [String]
        /// The number of tokens that each key has signed.
        package let tokens: [String: Int]
    }

    /// Makes subscriptions.
    ///
    /// - Parameters:
    ///   - key: the public key that they are bound to, in base64url; `nil` for any.
    ///   - service: whose rules and error bodies they have: `apple`, `google`, `mozilla` or `windows`.
    package func subscribe(_ count: Int = 1, key: String?, service: String = "apple") async throws -> [Device] {
        struct Made: Decodable { let subscriptions: [Device] }
        let json = #"{"count":\#(count),"key":\#(key.map { "\"\($0)\"" } ?? "null"),"service":"\#(service)"}"#
        return try await admin(.POST, "/subscriptions", json).decoded(Made.self).subscriptions
    }

    /// From now on the subscription is answered 410.
    package func end(_ device: Device) async throws { try await admin(.POST, "/subscriptions/\(device.id)/gone") }

    /// The accepted pushes from a number on, in their order.
    ///
    /// - Parameter limit: at most 10,000.
    package func pushes(from number: Int = 0, limit: Int = 10_000) async throws -> [Push] {
        struct List: Decodable { let pushes: [Push] }
        return try await admin(.GET, "/pushes?after=\(number)&limit=\(limit)").decoded(List.self).pushes
    }

    package func refusals() async throws -> [Refusal] {
        struct List: Decodable { let refusals: [Refusal] }
        return try await admin(.GET, "/refusals").decoded(List.self).refusals
    }

    package func state() async throws -> State { try await admin(.GET, "/state").decoded() }

    /// The answers to the next requests that are in order: elements of a JSON array such as
    /// `{"status":429,"headers":{"Retry-After":"7"}}` or `{"fault":"silence"}`; see `scripts/web-push/faults.py`.
    package func answerNext(_ answers: [String]) async throws {
        try await admin(.POST, "/next", #"{"answers":[\#(answers.joined(separator: ","))]}"#)
    }

    /// Rates of faults, a JSON object such as `{"serverError":0.2,"throttled":0.1,"retryAfter":1,"seed":7}`.
    package func setFaults(_ rates: String) async throws { try await admin(.PUT, "/faults", rates) }

    /// SETTINGS_MAX_CONCURRENT_STREAMS of all connections.
    package func setMaxStreams(_ number: Int) async throws {
        try await admin(.PUT, "/settings", #"{"maxStreams":\#(number)}"#)
    }

    @discardableResult
    private func admin(
        _ method: HTTPMethod, _ path: String, _ json: String? = nil
    ) async throws -> LoopbackHTTP.Response {
        let response = try await Self.http.send(method, port: adminPort, path, json: json, timeout: .seconds(30))
        guard response.status == 200 else { throw Refused(status: response.status, body: response.body) }
        return response
    }

    /// The admin API does not know the request.
    private struct Refused: Error {
        let status: Int
        let body: String
    }
}

extension WebPushService {
    /// Starts the service. The first time, it gets its packages from PyPI.
    ///
    /// - Parameters:
    ///   - folder: gets its certificate and its output.
    ///   - options: of `scripts/web-push/service.py`, such as `--http1`.
    ///   - record: gets the process ID for `recorded_process` of `scripts/common.sh`; `nil` for none.
    package static func start(
        in folder: URL, options: [String] = [], scripts: Scripts = .ofThisCheckout, record: URL? = nil
    ) async throws -> (service: WebPushService, program: Program) {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let output = folder.appending(path: "output")
        let note = record == nil ? "" : #". "$1" && record_process "$2" $$ && "#
        let program = try Program(
            URL(filePath: "/bin/bash"),
            [
                "-c", note + #"shift 2 && exec "$0" serve "$@""#,
                scripts.folder.appending(path: "web-push-service.sh").path,
                scripts.folder.appending(path: "common.sh").path, record?.path ?? "", folder.path,
            ] + options,
            environment: ProcessInfo.processInfo.environment, output: output, folder: folder)
        do {
            return (try await WebPushService(started: program, output: output), program)
        } catch {
            await end(program)
            throw error
        }
    }

    /// Ends a service that was started.
    package static func end(_ program: Program) async {
        program.send(SIGTERM)
        _ = await program.waitUntilEnd(within: .seconds(10))
        program.send(SIGKILL)
    }

    /// Waits until the program has printed where it listens.
    private init(started program: Program, output: URL) async throws {
        struct NotListening: Error { let output: String }
        func printed() -> String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }
        let pattern = #/listening on (https:\/\/[^ ]*:(\d+)), admin on http:\/\/127\.0\.0\.1:(\d+), authority (.+)\n/#
        _ = try await eventually { try pattern.firstMatch(in: printed()) != nil || !program.isRunning }
        guard let match = try pattern.firstMatch(in: printed()), let port = Int(match.2), let admin = Int(match.3)
        else { throw NotListening(output: printed()) }
        (origin, self.port, adminPort, authorityFile) = (String(match.1), port, admin, String(match.4))
    }
}

/// Runs the service for the time of the body, with a folder of its own.
package func withWebPushService(
    _ options: [String] = [], scripts: Scripts = .ofThisCheckout, _ body: (WebPushService) async throws -> Void
) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-web-push-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let (service, program) = try await WebPushService.start(in: folder, options: options, scripts: scripts)
    let result: Result<Void, any Error>
    do { result = .success(try await body(service)) } catch { result = .failure(error) }
    await WebPushService.end(program)
    try result.get()
}
