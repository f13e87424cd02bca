import Domain
import Foundations
import Logging
import PushServices
import Testing

@testable import Hub

/// Where pushes are real, a device learns at once that none can reach it.
@Suite struct AddressCheckTests {
    private struct NoNetwork: PushHTTPSending {
        func send(
            _ request: PushHTTPRequest, deadline: ContinuousClock.Instant
        ) async -> Result<PushHTTPResponse, PushHTTPFailure> { .failure(.notSent(reason: "no network")) }

        func close(deadline: ContinuousClock.Instant) async {}
    }

    /// A hub `real` with Web Push, and a hub `simulated`.
    private static func lanes() throws -> PushLanes {
        var pushers = PlatformPushers.simulated
        let configuration = try WebPushConfiguration(key: ES256Key(), subject: "mailto:push@example.org")
        let connector = WebPushConnector(configuration: configuration, client: NoNetwork())
        pushers["real", .browser] = .connector(connector, version: 1)
        return PushLanes(pushers, logger: Logger(label: "test"))
    }

    private static let point = ES256Key().publicText
    private static let auth = "BTBZMqHH6r4Tts7J_aSIgg"

    @Test(
        arguments: [
            ("https://fcm.googleapis.com/x", point, auth, nil),
            ("https://evil.example/x", point, auth, "The endpoint is not of a push service that is allowed here."),
            (
                "https://fcm.googleapis.com/x", "p256dh", auth,
                "The p256dh is not a point on P-256: 65 bytes in base64url."
            ),
            ("https://fcm.googleapis.com/x", point, "auth", "The auth is not 16 bytes in base64url."),
        ] as [(String, String, String, String?)])
    func `A browser that no push can reach is refused where pushes are real`(
        endpoint: String, p256dh: String, auth: String, wanted: String?
    ) throws {
        let channel = #"{"endpoint":"\#(endpoint)","p256dh":"\#(p256dh)","auth":"\#(auth)"}"#
        let document = #"{"installationId":"a","platform":"browser","pushChannel":\#(channel)}"#
        let installation = try HubInstallation(id: "a", document: Array(document.utf8))
        let fields = [("Endpoint", endpoint), ("P256DH", p256dh), ("Auth", auth)].map {
            XMLElement($0.0, namespace: XMLNamespace.connect, text: $0.1)
        }
        let registration = RegistrationEntry(
            id: "1", format: .browser, isTemplate: false, tags: [], handle: endpoint, fields: fields, updatedAt: .now)
        let lanes = try Self.lanes()
        func refusal(_ body: () throws -> Void) -> String? {
            do { try body() } catch { return (error as? HubError)?.detail ?? "\(error)" }
            return nil
        }
        #expect(refusal { try lanes.checkAddresses(of: installation, hub: "real") } == wanted)
        #expect(refusal { try lanes.checkAddresses(of: [registration], hub: "real") } == wanted)
        #expect(refusal { try lanes.checkAddresses(of: installation, hub: "simulated") } == nil)
        #expect(refusal { try lanes.checkAddresses(of: [registration], hub: "simulated") } == nil)
    }
}
