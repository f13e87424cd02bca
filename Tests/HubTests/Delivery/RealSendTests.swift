import Foundations
import HTTPTypes
import HummingbirdTesting
import PushServices
import ServiceRuntime
import StackKit
import Storage
import Testing

@testable import Hub

/// Sends over the REST API to push services.
@Suite struct RealSendTests {
    private func withHub(_ test: @escaping @Sendable (Emulator, ScriptedConnector) async throws -> Void) async throws {
        let connector = ScriptedConnector()
        try await withEmulator(pushers: DeliveryBench.pushers(connector), tellsOutcomes: true) { hub in
            try await test(hub, connector)
        }
    }

    @Test func `A device gets one push, with the headers of the send`() async throws {
        try await withHub { hub, connector in
            for handle in ["aa", "aa", "bb"] { try await hub.register(handle, tags: "t") }
            let sent = try await hub.send(
                #"{"aps":{"alert":"a"}}"#, tags: "t", headers: [HTTPField.Name(static: "apns-priority"): "5"])
            #expect(sent.headers[HubHeaders.outcome] == "Success=2, Skipped=1")
            #expect(connector.handles.sorted() == ["AA", "BB"])
            for request in connector.requests {
                #expect(request.headers["apns-priority"] == "5" && request.headers["authorization"] == nil)
                #expect(request.body == Array(#"{"aps":{"alert":"a"}}"#.utf8))
            }
            let id = try #require(sent.headers[.location]?.between("/messages/", "?"))
            let details = try await hub.call(.get, "/hub/messages/\(id)").text
            #expect(details.contains("<State>Completed</State>"))
            #expect(details.contains("<Name>Success</Name><Count>2</Count>"))
        }
    }

    /// FCM has it in the payload, and not in a header.
    @Test(
        arguments: [
            ("fcmv1", #"{"message":{"android":{"ttl":"90s"}}}"#, 90),
            ("fcmv1", #"{"message":{"data":{"a":"b"}}}"#, nil),
            ("fcmv1", #"{"message":{"android":{"ttl":"0s"}}}"#, nil), ("fcmv1", "ttl", nil),
        ] as [(String, String, Int?)])
    func `A push to FCM expires by its own time to live`(format: String, body: String, seconds: Int?) async throws {
        try await withHub { hub, connector in
            try await hub.register(
                "token", tags: "t", element: "FcmV1RegistrationDescription", field: "FcmV1RegistrationId")
            let start = Timestamp.now
            #expect(try await hub.send(body, format: format, tags: "t").headers[HubHeaders.outcome] == "Success")
            let request = try #require(connector.requests.first)
            let lives = seconds.map { start + .seconds($0)...Timestamp.now + .seconds($0) }
            #expect(request.expiresAt.map { lives?.contains($0) == true } ?? (lives == nil))
        }
    }

    @Test func `A fault is of simulated devices, and loses no real push`() async throws {
        try await withHub { hub, connector in
            try await hub.register("aa", tags: "t")
            for fault in [#"{"Swallow":true,"Count":1}"#, #"{"Outcome":"ExpiredChannel","Count":1}"#] {
                try await hub.addFault(fault)
                #expect(try await hub.send(tags: "t").headers[HubHeaders.outcome] == "Success")
            }
            #expect(connector.handles == ["AA", "AA"])
        }
    }

    @Test func `What is under way is Unknown in the header, and Processing in telemetry`() async throws {
        try await withHub { hub, connector in
            for handle in ["aa", "bb"] { try await hub.register(handle, tags: "t") }
            connector.plan("BB", .answer(.failed(after: .seconds(600))))
            let sent = try await hub.send(tags: "t")
            #expect(sent.status == .created && sent.headers[HubHeaders.outcome] == "Success=1, Unknown=1")
            let id = try #require(sent.headers[.location]?.between("/messages/", "?"))
            let details = try await hub.call(.get, "/hub/messages/\(id)").text
            #expect(details.contains("<State>Processing</State>"))
            #expect(details.contains("<Name>Success</Name><Count>1</Count>") && !details.contains("Unknown"))
        }
    }

    @Test func `A throttled send is 429, and one that reaches nobody 503`() async throws {
        try await withHub { hub, connector in
            try await hub.register("aa", tags: "t")
            connector.answerAll(.answer(.throttled(after: .seconds(90))))
            let throttled = try await hub.send(tags: "t")
            #expect(throttled.status == .tooManyRequests)
            #expect(throttled.headers[.retryAfter].flatMap { Int($0) } ?? 0 >= 90)
            connector.answerAll(.answer(.unreachable))
            let unreachable = try await hub.send(tags: "t")
            #expect(unreachable.status == .serviceUnavailable && unreachable.headers[.retryAfter] != nil)
        }
    }

    @Test func `A dead device is gone at once, and in the feedback`() async throws {
        try await withHub { hub, connector in
            let id = try await hub.register("aa", tags: "t")
            try await waitForNextMillisecond()
            connector.plan("AA", .answer(.gone(since: nil)))
            #expect(try await hub.send(tags: "t").headers[HubHeaders.outcome] == "ExpiredChannel")
            try await expectToHold { try await hub.call(.get, "/hub/registrations/\(id)").status == .notFound }
            let feedback = try await hub.call(.get, "/hub/feedbackcontainer/files/feedback.xml").text
            #expect(feedback.contains("<PnsHandle>AA</PnsHandle><RegistrationId>\(id)</RegistrationId>"))
            #expect(try await hub.send(tags: "t").headers[HubHeaders.outcome] == "NoTargetFound")
        }
    }

    @Test func `A browser is pushed to with its keys, or not at all`() async throws {
        try await withHub { hub, connector in
            let direct: HTTPFields = [
                HubHeaders.deviceHandle: "https://h/1", HubHeaders.p256dh: "P", HubHeaders.auth: "A",
                HTTPField.Name(static: "TTL"): "60", HTTPField.Name(static: "Urgency"): "high",
            ]
            let sent = try await hub.send(format: "browser", headers: direct, uri: "/hub/messages?direct")
            #expect(sent.headers[HubHeaders.outcome] == "Success")
            let request = try #require(connector.requests.first)
            #expect(request.address == .subscription(endpoint: "https://h/1", p256dh: "P", auth: "A"))
            #expect(request.headers["ttl"] == "60" && request.headers["urgency"] == "high")
            #expect(request.expiresAt != nil)
            let bare = try await hub.send(
                format: "browser", headers: [HubHeaders.deviceHandle: "https://h/2"], uri: "/hub/messages?direct")
            #expect(bare.headers[HubHeaders.outcome] == "BadChannel")
        }
    }

    @Test func `A push that was refused before it left is over, so the send is not refused`() async throws {
        try await withHub { hub, connector in
            for (handle, template) in [("AA", #"{"aps":{"alert":"$(m)"}}"#), ("BB", #"{"aps":{"alert":"$(m)$(m)"}}"#)] {
                let inner = "<Tags>t</Tags><DeviceToken>\(handle)</DeviceToken><BodyTemplate>\(template)</BodyTemplate>"
                _ = try await hub.call(
                    .post, "/hub/registrations", headers: TestEntry.headers,
                    body: TestEntry.make("AppleTemplateRegistrationDescription", inner))
            }
            connector.answerAll(.answer(.throttled(after: .seconds(600))))
            let text = String(repeating: "x", count: 3000)
            let sent = try await hub.send(#"{"m":"\#(text)"}"#, format: "template", tags: "t")
            #expect(sent.status == .created)
            #expect(sent.headers[HubHeaders.outcome] == "InvalidNotificationSize=1, Unknown=1")
            #expect(try await hub.state.store.tables.nextPushes().count == 1)
        }
    }

    /// A page has 500 registrations: here of one device and, on the second page, of another one.
    @Test(arguments: [true, false])
    func `A send is refused only if none of its pages could be pushed`(_ isAccepted: Bool) async throws {
        try await withHub { hub, connector in
            for _ in 0..<HubTables.pageSize { try await hub.register("aa", tags: "t") }
            try await hub.register("bb", tags: "t")
            connector.answerAll(.answer(.throttled(after: .seconds(600))))
            if isAccepted { connector.plan("BB", .answer(.accepted)) }
            let sent = try await hub.send(tags: "t")
            #expect(connector.handles == ["AA", "BB"])
            let stored = try await hub.state.store.tables.nextPushes()
            if isAccepted {
                #expect(sent.status == .created && stored.count == 1)
                #expect(sent.headers[HubHeaders.outcome] == "Success=1, Skipped=499, Unknown=1")
            } else {
                #expect(sent.status == .tooManyRequests && stored.isEmpty)
                #expect(sent.headers[.retryAfter].flatMap { Int($0) } ?? 0 >= 600)
            }
        }
    }
}
