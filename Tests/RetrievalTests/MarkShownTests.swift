import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import ServiceRuntime
import Testing

@testable import Retrieval

@Suite("POST /api/notifications/{id}/shown")
struct MarkShownTests {
    @Test func `The first time is kept and it is no read`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            let before = Timestamp.now
            let answer = try await bench.show(id)
            #expect(answer.status == .noContent && answer.body.readableBytes == 0)
            let record = try #require(try await bench.store.record(id, sender: "clinic"))
            #expect(record.readAt == nil)
            let shownAt = try #require(record.shownAt)
            #expect(shownAt >= before)
            #expect(try await bench.show(id).status == .noContent)
            #expect(try await bench.store.record(id, sender: "clinic")?.shownAt == shownAt)
            #expect(try await bench.get(id, "?include=unread").text.hasSuffix(#""Read":false,"Unread":0}"#))
        }
    }

    @Test func `What is not yours is not there`() async throws {
        try await withRetrieval { bench in
            let others = try await bench.accept("1", for: "bob")
            let early = try await bench.accept("1", notBefore: .now + .seconds(600))
            var seen: Set<String> = []
            for id in ["\(others)", "\(early)", "\(NotificationID())", "x"] {
                let answer = try await bench.request(.post, "/api/notifications/\(id)/shown", by: try bench.token())
                try answer.expectProblem(404)
                seen.insert(try #require(try answer.object()["detail"] as? String))
            }
            #expect(seen.count == 1, "\(seen)")
            for id in [others, early] {
                #expect(try await bench.store.record(id, sender: "clinic")?.shownAt == nil)
            }
        }
    }

    @Test func `What is gone is gone for its owner`() async throws {
        try await withRetrieval { bench in
            let expired = try await bench.accept("1", expiresAt: .now - .milliseconds(1))
            let revoked = try await bench.accept("1")
            #expect(try await bench.store.revoke(revoked, sender: "clinic", now: .now))
            for (id, detail) in [
                (expired, "The notification has expired."), (revoked, "The notification was revoked."),
            ] {
                let answer = try await bench.show(id)
                try answer.expectProblem(410)
                #expect(try answer.object()["detail"] as? String == detail)
                #expect(try await bench.get(id).status == .gone)
                #expect(try await bench.store.record(id, sender: "clinic")?.shownAt == nil)
            }
        }
    }

    @Test func `A device says what it has shown, and the sender reads the last report of each`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            for device in ["Phone-1", "tablet"] {
                let body = #"{"platform":"apns","pushChannel":"\#(device)"}"#
                #expect(try await bench.install(device, body).status == .ok)
            }
            let generic = #"{"Text":"generic","Code":"SP-KEY","Sdk":"swift/0.2.0","DeviceId":"phone-1"}"#
            #expect(try await bench.show(id, generic).status == .noContent)
            // The generic text does not show the notification.
            #expect(try await bench.store.record(id, sender: "clinic")?.shownAt == nil)
            var devices = try await bench.store.shownDevices(of: id, limit: 9)
            #expect(devices.map(\.deviceID) == ["Phone-1"] && devices.map(\.platform) == ["apple"])
            #expect(devices.map(\.report) == [DeviceReport(text: .generic, code: "SP-KEY", sdk: "swift/0.2.0")])
            for device in ["phone-1", "tablet"] {
                let secret = #"{"Text":"secret","Code":null,"DeviceId":"\#(device)"}"#
                #expect(try await bench.show(id, secret).status == .noContent)
            }
            #expect(try await bench.store.record(id, sender: "clinic")?.shownAt != nil)
            devices = try await bench.store.shownDevices(of: id, limit: 9)
            #expect(Set(devices.map(\.deviceID)) == ["Phone-1", "tablet"])
            #expect(devices.allSatisfy { $0.report == DeviceReport(text: .secret) })
            let exposition = bench.metrics.exposition()
            for line in [
                #"securepush_device_shown_total{code="SP-KEY",platform="apple",text="generic"} 1"#,
                #"securepush_device_shown_total{code="none",platform="apple",text="secret"} 2"#,
            ] {
                #expect(exposition.contains(line), "\(exposition)")
            }
        }
    }

    @Test func `A device that is not the user's is not listed, and unknown codes are one label`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            let expired = try await bench.accept("1", expiresAt: .now - .seconds(1))
            #expect(try await bench.install("b", #"{"platform":"apns","pushChannel":"B"}"#, by: "bob").status == .ok)
            for device in [#","DeviceId":"b""#, #","DeviceId":"nothing""#, ""] {
                let body = #"{"Text":"generic","Code":"SP-NEW9"\#(device)}"#
                #expect(try await bench.show(id, body).status == .noContent)
            }
            // The report of one that is gone counts, although it is refused.
            try (try await bench.show(expired, #"{"Text":"generic","Code":"SP-410"}"#)).expectProblem(410)
            try (try await bench.show(NotificationID(), #"{"Text":"generic"}"#)).expectProblem(404)
            #expect(try await bench.store.shownDevices(of: id, limit: 9).isEmpty)
            let lines = bench.metrics.exposition().split(separator: "\n").filter {
                $0.hasPrefix("securepush_device_shown_total{")
            }
            #expect(
                Set(lines) == [
                    #"securepush_device_shown_total{code="other",platform="unknown",text="generic"} 3"#,
                    #"securepush_device_shown_total{code="SP-410",platform="unknown",text="generic"} 1"#,
                ])
        }
    }

    @Test(arguments: [
        ("{}", ["/Text"]), (#"{"Text":"shown"}"#, ["/Text"]), (#"{"Text":"secret","Other":1}"#, ["/Other"]),
        (#"{"Text":"generic","Code":"SP-"}"#, ["/Code"]), (#"{"Text":"generic","Code":"SP-key"}"#, ["/Code"]),
        (#"{"Text":"generic","Code":"SP-12345678901234567"}"#, ["/Code"]),
        (#"{"Text":"generic","Sdk":"a b"}"#, ["/Sdk"]), (#"{"Text":"generic","DeviceId":".."}"#, ["/DeviceId"]),
    ])
    func `Every invalid member is named`(_ body: String, _ pointers: [String]) async throws {
        try await withRetrieval { bench in
            let answer = try await bench.show(bench.accept("1"), body)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == pointers)
        }
    }
}

extension RetrievalBench {
    /// Tells that a device of `alice` has shown a notification.
    fileprivate func show(_ id: NotificationID, _ body: String? = nil) async throws -> TestResponse {
        guard let body else { return try await request(.post, "/api/notifications/\(id)/shown", by: try token()) }
        return try await request(.post, "/api/notifications/\(id)/shown", by: try token(), body: body)
    }
}
