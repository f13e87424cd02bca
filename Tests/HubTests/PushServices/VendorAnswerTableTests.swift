import CryptoExtras
import Foundation
import Foundations
import Logging
import OutgoingHTTP
import PushServices
import StackKit
import Testing

@testable import Hub

/// docs/reference/push-services.md says what becomes of each answer of FCM and WNS. The push services of the tests give
/// these answers over real connections.
@Suite(.timeLimit(.minutes(5))) struct VendorAnswerTableTests {
    private typealias Row = PushServicesDocumentTests.Row

    private static func client(
        _ configuration: (OutgoingConfiguration, String?) -> PushHTTPClientConfiguration, _ service: FakePushService
    ) throws -> PushHTTPClient {
        PushHTTPClient(
            configuration: configuration(OutgoingConfiguration(), try service.authorities()),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// - Parameter values: by the words after the reason, what the service needs to write such an answer.
    private static func check(
        _ rows: [Row], _ service: FakePushService, values: [String: String] = [:], _ request: PushRequest,
        _ make: () throws -> any PushConnector
    ) async throws {
        for row in rows where row.status != 200 || !row.reason.isEmpty {
            let parts = row.reason.components(separatedBy: " for ")
            let more = parts.count == 2 ? try #require(values[parts[1]]) : "{}"
            // A refused access token is replaced once; nothing else is sent again.
            let times = row.status == 401 && parts[0] != "THIRD_PARTY_AUTH_ERROR" ? 2 : 1
            let answer = #"{"status":\#(row.status),"reason":"\#(parts[0])","times":\#(times),"values":\#(more)}"#
            try await service.forget()
            try await service.answerNext([answer])
            // Its access token is not one of the row before.
            let connector = try make()
            let result = await connector.push(request, deadline: .now + patience)
            let outcome = result.answer.cause == nil ? result.answer.outcome : .unknown
            #expect(outcome.rawValue == row.outcome, "\(row): \(result)")
            #expect(try await service.state().counts["requests.all"] == times, "\(row)")
            await connector.close(deadline: .now + .seconds(5))
        }
        let known = try await service.knownAnswers().filter { $0.reason != "accepted" }
        let named = Set(rows.map { "\($0.status) \($0.reason)" })
        for answer in known { #expect(named.contains("\(answer.status) \(answer.reason)"), "\(answer)") }
    }

    @Test func `Each answer of FCM has the outcome of the page`() async throws {
        try await withPushService(.fcm) { service in
            let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            try await service.setCredentials([
                .fcm(project: "p", clientEmail: "a@p.example", publicKeyPEM: key.publicKey.pemRepresentation)
            ])
            let configuration = try FCMConfiguration(
                projectID: "p", clientEmail: "a@p.example", keyID: nil, privateKey: key.pemRepresentation,
                tokenEndpoint: service.tokenOrigin + "/token", endpoint: service.origin)
            let device = try await service.device(.fcm(project: "p"))
            let request = PushRequest(
                address: .handle(device.handle), body: Array(#"{"message":{"data":{"a":"b"}}}"#.utf8))
            let rows = try PushServicesDocumentTests.rows("### Answers of FCM")
            #expect(rows.count > 12)
            let values = ["message.token": #"{"field":"message.token"}"#, "device": #"{"subject":"device"}"#]
            try await Self.check(rows, service, values: values, request) {
                FCMConnector(
                    configuration: configuration, client: try Self.client(configuration.client, service))
            }
        }
    }

    @Test func `Each answer of WNS has the outcome of the page`() async throws {
        try await withPushService(.wns) { service in
            try await service.setCredentials([.wns(app: "c", secret: "s", tenant: "t")])
            let configuration = try WNSConfiguration(
                identity: .entra(tenant: "t", clientID: "c"), clientSecret: "s",
                tokenEndpoint: service.tokenOrigin + "/t/oauth2/v2.0/token",
                allowedHosts: ["localhost:\(service.port)"])
            let device = try await service.device(.wns(app: "c"))
            let request = PushRequest(
                address: .handle(device.handle), body: Array("ID".utf8), headers: ["x-wns-type": "wns/raw"])
            let rows = try PushServicesDocumentTests.rows("### Answers of WNS")
            #expect(rows.count > 12)
            try await Self.check(rows, service, request) {
                WNSConnector(configuration: configuration, client: try Self.client(configuration.client, service))
            }
        }
    }
}
