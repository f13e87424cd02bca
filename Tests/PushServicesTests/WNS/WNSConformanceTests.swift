import Foundations
import Logging
import OutgoingHTTP
import StackKit
import TestSupport
import Testing

@testable import PushServices

/// The connector of WNS against a strict service that msal and django-push-notifications have tried.
@Suite(.timeLimit(.minutes(10))) struct WNSConformanceTests {
    private struct Harness: ConnectorHarness {
        let connector: any PushConnector
        let service: FakePushService
        let app: String

        /// - Parameter isPackage: whether the app is one of the older token service.
        init(_ service: FakePushService, isPackage: Bool = false, secret: String = "s3cret") async throws {
            let app = isPackage ? "ms-app://s-1-15-2-1" : "11111111-2222-3333-4444-555555555555"
            let tenant = isPackage ? nil : "test-tenant"
            try await service.setCredentials([.wns(app: app, secret: "s3cret", tenant: tenant)])
            var configuration = try WNSConfiguration(
                identity: tenant.map { .entra(tenant: $0, clientID: app) } ?? .package(sid: app), clientSecret: secret,
                tokenEndpoint: service.tokenOrigin + (tenant.map { "/\($0)/oauth2/v2.0/token" } ?? "/accesstoken.srf"),
                allowedHosts: ["localhost:\(service.port)"])
            configuration.checkOrigin = PushOrigin(host: "localhost", port: service.port)
            let settings = configuration.client(
                outgoing: OutgoingConfiguration(), authorities: try service.authorities())
            let client = PushHTTPClient(configuration: settings, logger: Logger(label: "test"))
            connector = WNSConnector(configuration: configuration, client: client)
            (self.service, self.app) = (service, app)
        }

        func request(_ text: String) async throws -> PushRequest {
            Self.request(text, to: try await service.device(.wns(app: app)))
        }

        static func request(_ text: String, to device: FakePushService.Device) -> PushRequest {
            PushRequest(
                address: PushAddress(device), body: Array(text.utf8),
                headers: ["x-wns-type": "wns/raw", "x-wns-ttl": "60", "x-wns-tag": "tag"])
        }

        func requestToGoneDevice() async throws -> PushRequest {
            let device = try await service.device(.wns(app: app))
            try await service.end(device)
            return Self.request("gone", to: device)
        }

        func tooLargeRequest() async throws -> PushRequest { try await request(String(repeating: "x", count: 5_001)) }

        var answerToRefusedCredentials: PushAnswer { .channelRefused }

        func taken() async throws -> [String] { try await service.pushes().compactMap(\.text) }

        func received() async throws -> Int { try await service.state().counts["requests.all"] ?? 0 }

        func prepare(_ answers: [ServiceAnswer]) async throws {
            try await service.answerNext(
                answers.map { answer in
                    switch answer {
                    case .throttled(let seconds): #"{"status":406\#(Self.wait("x-wns-continue-after", seconds))}"#
                    case .unavailable(let seconds): #"{"status":503\#(Self.wait("retry-after", seconds))}"#
                    case .serverError: #"{"status":500,"body":"<html>"}"#
                    case .credentialRefused: #"{"status":401,"times":2}"#
                    case .redirect: #"{"status":307,"headers":{"location":"/elsewhere"},"body":""}"#
                    default: answer.fault
                    }
                })
        }

        private static func wait(_ name: String, _ seconds: Int?) -> String {
            seconds.map { #","headers":{"\#(name)":"\#($0)"}"# } ?? ""
        }
    }

    @Test(arguments: [false, true]) func `WNS does what every connector does`(isPackage: Bool) async throws {
        try await withPushService(.wns) { service in
            let harness = try await Harness(service, isPackage: isPackage)
            try await ConnectorConformance(harness).run()
            let state = try await service.state()
            #expect(state.problems.isEmpty)
            // The first, and the one in place of that which was refused.
            #expect(state.counts["tokens.requests"] == 2)
            let pushes = try await service.pushes()
            #expect(!pushes.isEmpty && pushes.allSatisfy { $0.sender == harness.app })
            #expect(
                pushes.allSatisfy {
                    $0.headers["x-wns-type"] == "wns/raw" && $0.headers["x-wns-requestforstatus"] == "true"
                        && $0.headers["x-wns-ttl"] == "60" && $0.headers["x-wns-tag"] == "tag"
                })
        }
    }

    @Test func `What the service finds wrong by itself has the same meanings`() async throws {
        try await withPushService(.wns) { service in
            let harness = try await Harness(service)
            func push(_ request: PushRequest) async -> PushResult {
                await harness.connector.push(request, deadline: .now + patience)
            }
            let other = try await service.device(.wns(app: "another"))
            #expect(await push(Harness.request("x", to: other)).answer == .wrongSender)
            var request = try await harness.request("x")
            request.address = .handle("\(service.origin)/?token=none")
            #expect(await push(request).answer == .wrongAddress)
            request = try await harness.request("<toast/>")
            request.headers = ["x-wns-type": "wns/toast", "content-type": "text/xml;charset=utf-8"]
            #expect(await push(request).answer == .accepted)
            // Only apps of the older token service have tiles.
            request.headers = ["x-wns-type": "wns/tile"]
            #expect(await push(request).answer == .invalid)
            try await service.expireTokens()
            #expect(await push(try await harness.request("expired")).answer == .accepted)
            #expect(try await service.state().counts["tokens.requests"] == 2)
            await harness.connector.close(deadline: .now + .seconds(5))
        }
    }

    @Test(arguments: [(false, "token: invalid_client: AADSTS7000215: "), (true, "token: invalid_client: ")])
    func `A wrong secret is refused with the reason`(isPackage: Bool, reason: String) async throws {
        try await withPushService(.wns) { service in
            let harness = try await Harness(service, isPackage: isPackage, secret: "wrong")
            let result = await harness.connector.push(try await harness.request("x"), deadline: .now + patience)
            #expect(result.answer == .credentialRefused && result.reason.hasPrefix(reason), "\(result)")
            let check = await harness.connector.checkCredentials(deadline: .now + patience)
            #expect(check == .refused(reason: result.reason))
            #expect(try await service.state().counts["requests.all", default: 0] == 0)
            await harness.connector.close(deadline: .now + .seconds(5))
        }
    }

    @Test func `Lives of tokens are read as texts too`() async throws {
        try await withPushService(.wns) { service in
            try await service.setTokenLifetime(seconds: 86_399, asText: true)
            let harness = try await Harness(service)
            for _ in 0..<3 {
                let result = await harness.connector.push(try await harness.request("x"), deadline: .now + patience)
                #expect(result == PushResult(.accepted, status: 200))
            }
            #expect(try await service.state().counts["tokens.requests"] == 1)
            await harness.connector.close(deadline: .now + .seconds(5))
        }
    }

    /// A channel that leads elsewhere, or a redirect, must not get the access token.
    @Test func `No other server sees the access token`() async throws {
        try await withPushService(.wns) { service in
            try await withPushService(.wns) { foreign in
                let harness = try await Harness(service)
                let device = try await foreign.device(.wns(app: harness.app))
                let result = await harness.connector.push(
                    Harness.request("x", to: device), deadline: .now + patience)
                #expect(result.answer == .notAllowed)
                let place = #"{"status":307,"headers":{"location":"\#(device.handle)"},"body":""}"#
                try await service.answerNext([place])
                let redirected = await harness.connector.push(try await harness.request("x"), deadline: .now + patience)
                #expect(redirected.answer == .invalid)
                let state = try await foreign.state()
                #expect(state.counts["requests.all", default: 0] == 0)
                await harness.connector.close(deadline: .now + .seconds(5))
            }
        }
    }
}
