import Domain
import Foundation
import Foundations
import Logging
import OutgoingHTTP
import PushServices
import StackKit
import TestSupport
import Testing

/// The Web Push connector with the real HTTP client, against the push service that verifies by py-vapid and decrypts by
/// http_ece.
@Suite(.timeLimit(.minutes(10))) struct WebPushConformanceTests {
    private struct Harness: ConnectorHarness {
        let connector: any PushConnector
        let service: FakePushService
        let key: ES256Key

        init(_ service: FakePushService, key: ES256Key = ES256Key()) throws {
            var configuration = try WebPushConfiguration(
                key: key, subject: "mailto:push@example.org", allowedHosts: ["localhost:\(service.port)"])
            configuration.checkOrigin = PushOrigin(host: "localhost", port: service.port)
            let settings = configuration.client(
                outgoing: OutgoingConfiguration(),
                authorities: try service.authorities())
            let client = PushHTTPClient(configuration: settings, logger: Logger(label: "test"))
            connector = WebPushConnector(configuration: configuration, client: client)
            (self.service, self.key) = (service, key)
        }

        func request(_ text: String) async throws -> PushRequest {
            let device = try await service.device(.webPush(key: key.publicText))
            return PushRequest(address: PushAddress(device), body: Array(text.utf8))
        }

        func requestToGoneDevice() async throws -> PushRequest {
            let device = try await service.device(.webPush(key: key.publicText))
            try await service.end(device)
            return PushRequest(address: PushAddress(device), body: [])
        }

        func tooLargeRequest() async throws -> PushRequest {
            try await request(String(repeating: "x", count: 3_994))
        }

        func taken() async throws -> [String] { try await service.pushes().compactMap(\.text) }

        func received() async throws -> Int { try await service.state().counts["requests.all"] ?? 0 }

        func prepare(_ answers: [ServiceAnswer]) async throws { try await service.answerNext(answers.map(Self.json)) }

        private static func json(_ answer: ServiceAnswer) -> String {
            func wait(_ seconds: Int?) -> String { seconds.map { #","headers":{"Retry-After":"\#($0)"}"# } ?? "" }
            return switch answer {
            case .throttled(let seconds): #"{"status":429\#(wait(seconds))}"#
            case .unavailable(let seconds): #"{"status":503\#(wait(seconds))}"#
            case .serverError: #"{"status":500,"body":"<html>"}"#
            case .credentialRefused: #"{"status":403,"body":"{\"reason\":\"BadJwtToken\"}"}"#
            case .redirect: #"{"status":307,"headers":{"Location":"/apple/elsewhere"}}"#
            case .lost: #"{"fault":"reset"}"#
            case .half: #"{"fault":"half"}"#
            case .silence: #"{"fault":"silence"}"#
            case .close: #"{"fault":"close"}"#
            case .goAway: #"{"fault":"goaway"}"#
            case .huge: #"{"fault":"huge"}"#
            case .slow: #"{"fault":"slow","seconds":0.5}"#
            }
        }
    }

    @Test(arguments: [[], ["--http1"]])
    func `Web Push does what every connector does`(options: [String]) async throws {
        try await withPushService(.webPush, options) { service in
            try await ConnectorConformance(try Harness(service)).run()
            let state = try await service.state()
            #expect(state.problems.isEmpty)
            let version = options.isEmpty ? "connections.h2" : "connections.http/1.1"
            #expect(state.counts["connections.h2", default: 0] == 0 || options.isEmpty)
            #expect(state.counts[version, default: 0] > 0)
            // One token served all pushes.
            #expect(state.tokens.values.allSatisfy { $0 == 1 })
        }
    }

    @Test(arguments: ["apple", "google", "mozilla", "windows"])
    func `A push is what each of the big services demands`(kind: String) async throws {
        try await withPushService(.webPush) { service in
            let harness = try Harness(service)
            let device = try await service.device(.webPush(key: harness.key.publicText, service: kind))
            let texts = ["", "Gr\u{FC}\u{DF}e \u{1F44B}", String(repeating: "x", count: 3_993)]
            let topic = "0123456789abcdefghijklmnopqrstu_"
            // Microsoft's refuses 0, unless a header says so that only its own hosts get.
            let seconds = kind == "windows" ? 1 : 0
            for text in texts {
                let request = PushRequest(
                    address: PushAddress(device), body: Array(text.utf8),
                    headers: ["ttl": "\(seconds)", "urgency": "high", "topic": topic])
                let result = await harness.connector.push(request, deadline: .now + patience)
                #expect(result == PushResult(.accepted, status: 201))
            }
            let pushes = try await service.pushes()
            #expect(pushes.map(\.text) == texts)
            #expect(pushes.map(\.size) == [86 + 128 + 17, 86 + 128 + 17, 4_096])
            let headers = ["ttl": "\(seconds)", "urgency": "high", "topic": topic]
            #expect(pushes.allSatisfy { push in headers.allSatisfy { push.headers[$0.key] == $0.value } })
            #expect(pushes.allSatisfy { $0.sender == harness.key.publicText && $0.answer == "sent" })
            #expect(try await service.refusals().isEmpty)
            await harness.connector.close(deadline: .now + .seconds(5))
        }
    }

    @Test func `A subscription of a former key keeps its pushes`() async throws {
        try await withPushService(.webPush) { service in
            let (new, old, foreign) = (ES256Key(), ES256Key(), ES256Key())
            let configuration = try WebPushConfiguration(
                key: new, previousKeys: [old], subject: "mailto:push@example.org",
                allowedHosts: ["localhost:\(service.port)"])
            let settings = configuration.client(
                outgoing: OutgoingConfiguration(),
                authorities: try service.authorities())
            let connector = WebPushConnector(
                configuration: configuration,
                client: PushHTTPClient(configuration: settings, logger: Logger(label: "test")))
            for kind in ["apple", "google", "mozilla", "windows"] {
                func push(_ key: ES256Key, hint: String? = nil) async throws -> PushResult {
                    let device = try await service.device(.webPush(key: key.publicText, service: kind))
                    var request = PushRequest(address: PushAddress(device), body: Array(kind.utf8))
                    request.keyHint = hint
                    return await connector.push(request, deadline: .now + patience)
                }
                #expect(try await push(new) == PushResult(.accepted, status: 201), "\(kind)")
                #expect(try await push(old) == PushResult(.accepted, status: 201, keyUsed: old.id), "\(kind)")
                #expect(try await push(old, hint: old.id).keyUsed == old.id, "\(kind)")
                // Our token is good, for the service has accepted it.
                #expect(try await push(foreign).answer == .wrongSender, "\(kind)")
            }
            await connector.close(deadline: .now + .seconds(5))
        }
    }
}
