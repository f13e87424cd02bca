import Domain
import Foundations
import Logging
import OutgoingHTTP
import StackKit
import TestSupport
import Testing

@testable import PushServices

/// The connector of APNs with the real HTTP client, against the push service that aioapns agrees with.
@Suite(.timeLimit(.minutes(10))) struct APNsConformanceTests {
    private struct Harness: ConnectorHarness {
        let connector: any PushConnector
        let service: FakePushService
        let key: ES256Key

        init(_ service: FakePushService, tokens: any SharedPushTokens = LocalPushTokens()) async throws {
            key = ES256Key()
            let configuration = try APNsConfiguration.sample(key, endpoint: service.origin)
            let settings = configuration.client(outgoing: .init(), authorities: try service.authorities())
            let logger = Logger(label: "test")
            connector = APNsConnector(
                configuration: configuration, client: PushHTTPClient(configuration: settings, logger: logger),
                tokens: APNsTokens(configuration, store: tokens, logger: logger))
            self.service = service
            try await service.setCredentials([
                .apns(
                    team: APNsConfiguration.sampleTeam, keyID: APNsConfiguration.sampleKeyID,
                    publicKeyPEM: key.publicPEM)
            ])
        }

        func device() async throws -> FakePushService.Device {
            try await service.device(.apns(topic: APNsConfiguration.sampleTopic))
        }

        func request(_ text: String) async throws -> PushRequest { request(text, to: try await device()) }

        func request(_ text: String, to device: FakePushService.Device) -> PushRequest {
            let payload = JSONValue.object([
                .init("aps", .object([.init("alert", .string("a"))])), .init("text", .string(text)),
            ])
            return PushRequest(address: PushAddress(device), body: Array(payload.json.utf8))
        }

        func requestToGoneDevice() async throws -> PushRequest {
            let device = try await device()
            try await service.end(device)
            return request("gone", to: device)
        }

        func tooLargeRequest() async throws -> PushRequest {
            try await request(String(repeating: "x", count: 4_096))
        }

        func taken() async throws -> [String] {
            try await service.pushes().compactMap { push in
                push.body.flatMap { try? JSONValue($0) }?["text"]?.text
            }
        }

        func received() async throws -> Int { try await service.state().counts["requests.all"] ?? 0 }

        func prepare(_ answers: [ServiceAnswer]) async throws { try await service.answerNext(answers.map(Self.json)) }

        private static func json(_ answer: ServiceAnswer) -> String {
            func wait(_ seconds: Int?) -> String { seconds.map { #","headers":{"Retry-After":"\#($0)"}"# } ?? "" }
            return switch answer {
            case .throttled(let seconds):
                #"{"status":429,"reason":"TooManyProviderTokenUpdates"\#(wait(seconds))}"#
            case .unavailable(let seconds): #"{"status":503,"reason":"ServiceUnavailable"\#(wait(seconds))}"#
            case .serverError: #"{"status":500,"body":"<html>"}"#
            case .credentialRefused: #"{"status":403,"reason":"InvalidProviderToken"}"#
            case .redirect: #"{"status":307,"headers":{"Location":"/3/device/00"},"body":""}"#
            default: answer.fault
            }
        }
    }

    @Test(arguments: [[], ["--shrink"], ["--environment", "sandbox"]])
    func `APNs does what every connector does`(options: [String]) async throws {
        try await withPushService(.apns, options) { service in
            try await ConnectorConformance(try await Harness(service)).run()
            let state = try await service.state()
            #expect(state.problems.isEmpty)
            // One token served all pushes.
            #expect(state.tokens == [APNsConfiguration.sampleKeyID: 1])
        }
    }

    // MARK: Every status and reason

    /// Of "Handling notification responses from APNs": the result, and the number of requests for a push that meets
    /// nothing else.
    private static let answers: [(status: Int, reason: String, answer: PushAnswer, requests: Int)] = [
        (400, "BadCollapseId", .invalid, 1), (400, "BadDeviceToken", .wrongAddress, 1),
        (400, "BadExpirationDate", .invalid, 1), (400, "BadMessageId", .invalid, 1), (400, "BadPriority", .invalid, 1),
        (400, "BadTopic", .credentialRefused, 1), (400, "DeviceTokenNotForTopic", .wrongAddress, 1),
        (400, "DuplicateHeaders", .invalid, 1), (400, "IdleTimeout", .failed(after: nil), 2),
        (400, "InvalidPushType", .invalid, 1), (400, "MissingDeviceToken", .invalid, 1),
        (400, "MissingTopic", .credentialRefused, 1), (400, "PayloadEmpty", .invalid, 1),
        (400, "TopicDisallowed", .credentialRefused, 1), (403, "BadCertificate", .credentialRefused, 1),
        (403, "BadCertificateEnvironment", .credentialRefused, 1),
        (403, "BadEnvironmentKeyIdInToken", .credentialRefused, 1),
        (403, "ExpiredProviderToken", .credentialRefused, 1), (403, "Forbidden", .credentialRefused, 1),
        (403, "InvalidProviderToken", .credentialRefused, 1), (403, "MissingProviderToken", .credentialRefused, 1),
        (403, "UnrelatedKeyIdInToken", .credentialRefused, 1), (404, "BadPath", .invalid, 1),
        (405, "MethodNotAllowed", .invalid, 1), (410, "ExpiredToken", .gone(since: nil), 1),
        (410, "Unregistered", .gone(since: nil), 1), (413, "PayloadTooLarge", .tooLarge, 1),
        (429, "TooManyProviderTokenUpdates", .throttled(after: nil), 1),
        (429, "TooManyRequests", .deviceThrottled(after: nil), 1), (500, "InternalServerError", .failed(after: nil), 1),
        (503, "ServiceUnavailable", .failed(after: nil), 1), (503, "Shutdown", .failed(after: nil), 2),
    ]

    @Test func `Every status and reason has its result and its number of requests`() async throws {
        try await withPushService(.apns) { service in
            let harness = try await Harness(service)
            let known = try await service.knownAnswers().map { "\($0.status) \($0.reason)" }
            #expect(Set(known) == Set(Self.answers.map { "\($0.status) \($0.reason)" } + ["200 accepted"]))
            let device = try await harness.device()
            for (status, reason, answer, requests) in Self.answers {
                let json = #"{"status":\#(status),"reason":"\#(reason)"}"#
                try await service.answerNext(Array(repeating: json, count: requests))
                let before = try await harness.received()
                let result = await harness.connector.push(harness.request("x", to: device), deadline: .now + patience)
                #expect(try await harness.received() == before + requests, "\(reason)")
                #expect(result.status == status && result.reason == reason, "\(result)")
                if case .gone(let since?) = result.answer {
                    #expect(status == 410 && since <= .now)
                } else {
                    #expect(result.answer == answer, "\(reason)")
                }
                // It harms no other push.
                let next = await harness.connector.push(harness.request("y", to: device), deadline: .now + patience)
                #expect(next == PushResult(.accepted, status: 200), "after \(reason)")
            }
            #expect(try await harness.taken() == Array(repeating: "y", count: Self.answers.count))
            #expect(try await service.state().problems.isEmpty)
            await harness.connector.close(deadline: .now + .seconds(5))
        }
    }

    @Test(arguments: [(400, "IdleTimeout"), (503, "Shutdown")])
    func `A push that met the end of a connection arrives on a new one`(status: Int, reason: String) async throws {
        try await withPushService(.apns) { service in
            let harness = try await Harness(service)
            let device = try await harness.device()
            for text in ["first", "second"] {
                let result = await harness.connector.push(harness.request(text, to: device), deadline: .now + patience)
                #expect(result.answer == .accepted)
                try await service.answerNext([#"{"status":\#(status),"reason":"\#(reason)"}"#])
            }
            #expect(try await harness.taken() == ["first", "second"])
            #expect(try await service.state().counts["connections.h2"] == 2)
            await harness.connector.close(deadline: .now + .seconds(5))
        }
    }

    // MARK: Devices, environments and keys

    @Test func `A device of another environment or app has a wrong address`() async throws {
        try await withPushService(.apns) { service in
            let harness = try await Harness(service)
            let sandbox = try await service.device(
                .apns(topic: APNsConfiguration.sampleTopic, environment: "sandbox"))
            let other = try await service.device(.apns(topic: "org.example.other"))
            for (device, reason) in [(sandbox, "BadDeviceToken"), (other, "DeviceTokenNotForTopic")] {
                let result = await harness.connector.push(harness.request("x", to: device), deadline: .now + patience)
                #expect(result == PushResult(.wrongAddress, reason: reason, status: 400))
            }
            // The send may name another app of the team.
            var request = harness.request("x", to: other)
            request.headers["apns-topic"] = "org.example.other"
            #expect(await harness.connector.push(request, deadline: .now + patience).answer == .accepted)
            await harness.connector.close(deadline: .now + .seconds(5))
        }
    }

    @Test func `A device that is gone is so since the time that APNs names`() async throws {
        try await withPushService(.apns) { service in
            let harness = try await Harness(service)
            let device = try await harness.device()
            try await service.end(device, since: 1_454_402_113_000)
            let result = await harness.connector.push(harness.request("x", to: device), deadline: .now + patience)
            let since = Timestamp(milliseconds: 1_454_402_113_000)
            #expect(result == PushResult(.gone(since: since), reason: "Unregistered", status: 410))
            await harness.connector.close(deadline: .now + .seconds(5))
        }
    }

    @Test func `A key that APNs does not know, or for the other environment, is refused`() async throws {
        try await withPushService(.apns) { service in
            let harness = try await Harness(service)
            let request = try await harness.request("x")
            func key(environment: String? = nil, topics: [String]? = nil) throws -> FakePushService.Credential {
                .apns(
                    team: APNsConfiguration.sampleTeam, keyID: APNsConfiguration.sampleKeyID,
                    publicKeyPEM: try harness.key.publicPEM, topics: topics, environment: environment)
            }
            for (credentials, status, reason) in [
                ([], 403, "InvalidProviderToken"),
                ([try key(environment: "sandbox")], 403, "BadEnvironmentKeyIdInToken"),
                ([try key(topics: ["org.example.other"])], 400, "TopicDisallowed"),
            ] {
                try await service.setCredentials(credentials)
                let result = await harness.connector.push(request, deadline: .now + patience)
                #expect(result == PushResult(.credentialRefused, reason: reason, status: status))
                let check = await harness.connector.checkCredentials(deadline: .now + patience)
                #expect(check == .refused(reason: reason))
            }
            try await service.setCredentials([try key(environment: "production")])
            #expect(await harness.connector.push(request, deadline: .now + patience).answer == .accepted)
            await harness.connector.close(deadline: .now + .seconds(5))
        }
    }

    @Test func `Two processes push with one token`() async throws {
        try await withPushService(.apns) { service in
            let tokens = LocalPushTokens()
            let harness = try await Harness(service, tokens: tokens)
            let configuration = try APNsConfiguration.sample(harness.key, endpoint: service.origin)
            let settings = configuration.client(outgoing: .init(), authorities: try service.authorities())
            let logger = Logger(label: "test")
            let other = APNsConnector(
                configuration: configuration, client: PushHTTPClient(configuration: settings, logger: logger),
                tokens: APNsTokens(configuration, store: tokens, logger: logger))
            for connector in [harness.connector, other] {
                let result = await connector.push(try await harness.request("x"), deadline: .now + patience)
                #expect(result.answer == .accepted)
            }
            let state = try await service.state()
            #expect(state.tokens == [APNsConfiguration.sampleKeyID: 1] && state.counts["connections.h2"] == 2)
            for connector in [harness.connector, other] { await connector.close(deadline: .now + .seconds(5)) }
        }
    }

    @Test func `Few streams make a connection more, and no push is refused`() async throws {
        try await withPushService(.apns) { service in
            let harness = try await Harness(service)
            let requests = try await service.devices(100, .apns(topic: APNsConfiguration.sampleTopic))
                .map { harness.request("x", to: $0) }
            for maxStreams in [3, 1, 100] {
                try await service.setMaxStreams(maxStreams)
                let accepted = await withTaskGroup(of: PushResult.self) { group in
                    for request in requests {
                        group.addTask { await harness.connector.push(request, deadline: .now + patience) }
                    }
                    return await group.reduce(0) { $0 + ($1.answer == .accepted ? 1 : 0) }
                }
                #expect(accepted == requests.count)
            }
            let state = try await service.state()
            #expect(state.problems.isEmpty && (2...8).contains(state.counts["connections.h2", default: 0]))
            await harness.connector.close(deadline: .now + .seconds(5))
        }
    }
}
