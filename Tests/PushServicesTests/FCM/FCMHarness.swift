import Foundations
import Logging
import OutgoingHTTP
import StackKit

@testable import PushServices

/// The connector of FCM with the real HTTP client, and a service that stands in for Google's.
struct FCMHarness: ConnectorHarness {
    let connector: any PushConnector
    let service: FakePushService

    static let project = "test-project"
    private static let email = "push@test-project.iam.gserviceaccount.com"

    /// - Parameter isInstallation: whether devices have IDs of Firebase installations in place of tokens.
    init(_ service: FakePushService, isInstallation: Bool = false, maySend: Bool = true) async throws {
        try await service.setCredentials([
            .fcm(
                project: Self.project, clientEmail: Self.email, publicKeyPEM: try ServiceAccountKey.publicPEM,
                maySend: maySend)
        ])
        let configuration = try FCMConfiguration(
            projectID: Self.project, clientEmail: Self.email, keyID: "key", privateKey: ServiceAccountKey.pem,
            tokenEndpoint: service.tokenOrigin + "/token", endpoint: service.origin)
        let settings = configuration.client(
            outgoing: OutgoingConfiguration(), authorities: try service.authorities())
        let client = PushHTTPClient(configuration: settings, logger: Logger(label: "test"))
        connector = FCMConnector(configuration: configuration, client: client)
        (self.service, self.isInstallation) = (service, isInstallation)
    }

    private let isInstallation: Bool

    var waitWhenThrottled: Duration? { FCMAnswer.waitOfProject }

    private func device() async throws -> FakePushService.Device {
        try await service.device(.fcm(project: Self.project, isInstallation: isInstallation))
    }

    static func request(_ text: String, to device: FakePushService.Device) -> PushRequest {
        let payload =
            #"{"message":{"data":{"text":\#(JSONText.quoted(text))},"android":{"priority":"high","ttl":"60s"}}}"#
        return PushRequest(address: PushAddress(device), body: Array(payload.utf8))
    }

    func request(_ text: String) async throws -> PushRequest { Self.request(text, to: try await device()) }

    func requestToGoneDevice() async throws -> PushRequest {
        let device = try await device()
        try await service.end(device)
        return Self.request("gone", to: device)
    }

    func tooLargeRequest() async throws -> PushRequest { try await request(String(repeating: "x", count: 4_093)) }

    func taken() async throws -> [String] {
        try await service.pushes().compactMap { push in
            push.text.flatMap { JSONValue(text: $0) }?["message"]?["data"]?["text"]?.text
        }
    }

    func received() async throws -> Int { try await service.state().counts["requests.all"] ?? 0 }

    func prepare(_ answers: [ServiceAnswer]) async throws {
        try await service.answerNext(
            answers.map { answer in
                switch answer {
                case .throttled(let seconds): #"{"status":429,"reason":"QUOTA_EXCEEDED"\#(Self.wait(seconds))}"#
                case .unavailable(let seconds): #"{"status":503,"reason":"UNAVAILABLE"\#(Self.wait(seconds))}"#
                case .serverError: #"{"status":500,"body":"<html>"}"#
                case .credentialRefused: #"{"status":401,"reason":"UNAUTHENTICATED","times":2}"#
                case .redirect: #"{"status":307,"headers":{"Location":"/elsewhere"},"body":""}"#
                default: answer.fault
                }
            })
    }

    private static func wait(_ seconds: Int?) -> String {
        seconds.map { #","headers":{"Retry-After":"\#($0)"}"# } ?? ""
    }
}

extension ServiceAnswer {
    /// What has the same form with every service of the tests.
    var fault: String {
        switch self {
        case .lost: #"{"fault":"reset"}"#
        case .half: #"{"fault":"half"}"#
        case .silence: #"{"fault":"silence"}"#
        case .close: #"{"fault":"close"}"#
        case .goAway: #"{"fault":"goaway"}"#
        case .huge: #"{"fault":"huge"}"#
        case .slow: #"{"fault":"slow","seconds":0.5}"#
        case .throttled, .unavailable, .serverError, .credentialRefused, .redirect: #"{"status":500}"#
        }
    }
}
