import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import ServiceRuntime
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Operator

/// Every endpoint on every store.
@Suite("The operator's API", .serialized)
struct OperatorAPITests {
    private static let stores: [StoreKind] = [.sqlite, .postgres]

    private func search(_ bench: OperatorBench, _ text: String) throws {
        #expect(!text.contains(OperatorBench.secret))
        // Neither the bytes of the payload in another form.
        #expect(!text.contains(Data(OperatorBench.secret.utf8).base64EncodedString()))
    }

    @Test(arguments: stores) func `The overview has every source`(_ kind: StoreKind) async throws {
        try await withOperator(kind) { bench in
            let read = try await bench.stored()
            try await bench.record([OperatorBench.delivery(.apple, .sent)], of: read)
            try await bench.store.markRead(read, at: .now)
            let dead = try await bench.stored()
            try await bench.record([OperatorBench.delivery(.apple, .dead, "HTTP 400: x")], of: dead)
            bench.queues.add(dead, reason: "http_400")
            let alice = try #require(UserName("alice"))
            try await bench.store.save(
                Installation(
                    id: "phone", owner: alice, platform: .apple, handle: "h", document: [], updatedAt: .now))
            let report = DeviceReport(text: .generic, code: "SP-KEY", sdk: "web/1")
            _ = try await bench.store.report(report, of: dead, by: "phone", owner: alice, now: .now)
            let answer = try await bench.get("/admin/api/overview?Window=15m")
            try search(bench, answer.text)
            let overview = try answer.object()
            let funnel = try #require(overview["Funnel"] as? [String: Any])
            for (name, count) in [("Accepted", 2), ("Pushed", 1), ("Read", 1), ("Failed", 1), ("Shown", 0)] {
                #expect(funnel[name] as? Int == count, "\(name)")
            }
            let queues = try #require(overview["Queues"] as? [[String: Any]])
            #expect(queues.map { $0["Messages"] as? Int } == [3, nil, 1])
            #expect(queues[1]["Problem"] as? String == "not permitted")
            let outbox = try #require(overview["Outbox"] as? [String: Any])
            #expect(outbox["Pending"] as? Int != nil)
            let sources = try #require(overview["Sources"] as? [[String: Any]])
            #expect(
                sources.map { $0["Name"] as? String }
                    == ["database", "broker", "ingest", "dispatcher", "retrieval", "hub"])
            #expect(sources.map { $0["State"] as? String } == ["up", "up", "off", "up", "off", "off"])
            let texts = try #require(overview["GenericTexts"] as? [[String: Any]])
            #expect(texts.map { $0["Code"] as? String } == ["SP-KEY"] && texts[0]["Devices"] as? Int == 1)
            #expect(texts[0]["Sdk"] as? String == "web/1" && texts[0]["Platform"] as? String == "apple")
            let failures = try #require(overview["Failures"] as? [String: Any])
            #expect(failures["Notifications"] as? Int == 1 && overview["State"] as? String == "warn")
            let troubles = try #require(overview["Troubles"] as? [[String: Any]])
            #expect(
                troubles.map { $0["Short"] as? String } == [
                    "securepush.retry.1 is unknown", "1 dead letter", "1 failed",
                ])
            for bad in ["Window=1y", "After=noon"] {
                try (await bench.get("/admin/api/overview?\(bad)")).expectProblem(422)
            }
        }
    }

    /// The broker does not tell how old its messages are, so the age is that of the store's oldest notification.
    @Test(arguments: stores) func `The age is beside the queues`(_ kind: StoreKind) async throws {
        try await withOperator(kind) { bench in
            let time = Timestamp.now - .seconds(330)
            _ = try await bench.stored {
                $0.id = NotificationID(at: time)
                $0.createdAt = time
            }
            let outbox = try await bench.get("/admin/api/overview").object()["Outbox"] as? [String: Any]
            let age = try #require(outbox?["OldestUnfinishedSeconds"] as? Int)
            #expect(age >= 330)
        }
    }

    @Test func `An outage is named with its beginning and the rest is shown`() async throws {
        try await withOperator { bench in
            bench.queues.state.withLock { $0.problem = "connection refused" }
            let overview = try await bench.get("/admin/api/overview").object()
            let broker = try #require((overview["Sources"] as? [[String: Any]])?[1])
            #expect(broker["State"] as? String == "down")
            #expect(broker["Detail"] as? String == "connection refused")
            #expect((broker["Since"] as? String).flatMap { Timestamp(rfc3339: $0) } != nil)
            #expect(overview["Funnel"] != nil)
            #expect(overview["State"] as? String == "bad")
            let worst = (overview["Troubles"] as? [[String: Any]])?.first
            #expect(worst?["Text"] as? String == "The broker cannot be reached: connection refused")
        }
    }

    @Test func `An overview is collected once for all`() async throws {
        try await withOperator { bench in
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 { group.addTask { _ = try await bench.get("/admin/api/overview") } }
                try await group.waitForAll()
            }
            #expect(bench.queues.state.withLock { $0.asked } < 5)
        }
    }

    @Test(arguments: stores) func `Failures are grouped by reason and sent again`(_ kind: StoreKind) async throws {
        try await withOperator(kind) { bench in
            let reason = { (tracking: Int) in "HTTP 400: Bad..TrackingId:\(tracking),TimeStamp:1" }
            var ids: [NotificationID] = []
            for index in 0..<3 {
                let id = try await bench.stored()
                let dead = [Platform.apple, .windows].map { OperatorBench.delivery($0, .dead, reason(index)) }
                try await bench.record(index == 0 ? dead : [dead[0]], of: id)
                ids.append(id)
            }
            let other = try await bench.stored()
            try await bench.record([OperatorBench.delivery(.windows, .dead, "HTTP 413")], of: other)
            let answer = try await bench.get("/admin/api/failures")
            try search(bench, answer.text)
            let groups = try #require(try answer.object()["Groups"] as? [[String: Any]])
            #expect(groups.map { $0["Count"] as? Int } == [3, 1])
            let shares = try #require(groups[0]["Platforms"] as? [[String: Any]])
            #expect(shares.map { "\($0["Platform"] ?? "") \($0["Count"] ?? "")" } == ["apple 3", "windows 1"])
            #expect(groups.map { $0["Reason"] as? String } == ["HTTP 400: Bad", "HTTP 413"])
            #expect(Set(groups[0]["Ids"] as? [String] ?? []) == Set(ids.map(\.description)))

            let result = try await bench.post("/admin/api/failures/resend", #"{"Reason":"HTTP 400: Bad"}"#).object()
            #expect(result["Resent"] as? Int == 3 && result["HasMore"] as? Bool == false)
            #expect(Set(try await bench.due().map(\.id)) == Set(ids))
            let left = try await bench.get("/admin/api/failures").object()
            #expect((left["Groups"] as? [[String: Any]])?.map { $0["Reason"] as? String } == ["HTTP 413"])
            let long = String(repeating: "x", count: FailureReason.maxLength + 1)
            for bad in [
                "{}", #"{"Reason":"\#(long)"}"#, #"{"Reason":"x","Window":"1y"}"#, #"{"Reason":"x","Before":"x"}"#,
                #"{"Reason":"x","Before":1}"#,
            ] {
                try (await bench.post("/admin/api/failures/resend", bad)).expectProblem(422)
            }
        }
    }

    /// No failure among the newest does not mean that there is none in the window.
    @Test func `The failures say how far they look back`() async throws {
        let directory = OperatorDirectory(store: PagesWithoutFailures(), platforms: [.apple])
        let report = try await directory.failures(.hour, before: nil, now: .now)
        let next = try #require(report.next.flatMap { NotificationID($0) })
        #expect(report.groups.isEmpty && report.since == next.timestamp.description)
    }

    @Test(arguments: stores) func `Dead letters are listed and replayed`(_ kind: StoreKind) async throws {
        try await withOperator(kind) { bench in
            let (one, two, done) = (try await bench.stored(), try await bench.stored(), try await bench.stored())
            for id in [one, two] { try await bench.record([OperatorBench.delivery(.apple, .dead, "x")], of: id) }
            try await bench.record([OperatorBench.delivery(.apple, .sent)], of: done)
            bench.queues.add(one, reason: "attempts", platforms: [.apple])
            bench.queues.add(two, reason: "http_413", platforms: [.apple])
            bench.queues.add(done, reason: "attempts", platforms: [.apple])
            bench.queues.add(nil, reason: "unreadable")
            let listed = try await bench.get("/admin/api/dead-letters?Limit=2")
            try search(bench, listed.text)
            #expect(try listed.object()["Total"] as? Int == 4)
            let letters = try #require(try listed.object()["DeadLetters"] as? [[String: Any]])
            #expect(letters.map { $0["Id"] as? String } == [one.description, two.description])
            #expect(letters.allSatisfy { $0["Recipient"] as? String == "alice" && $0["DiedAt"] != nil })
            #expect(try await bench.queues.count() == 4)

            let path = "/admin/api/dead-letters/replay"
            let first = try await bench.post(path, #"{"Ids":["\#(two)"]}"#).object()
            #expect(first["Replayed"] as? Int == 1)
            #expect(try await bench.due().map(\.id) == [two])
            let rest = try await bench.post(path, #"{"All":true}"#).object()
            // That of a notification that has not failed is gone. The unreadable one is left.
            #expect(rest["Replayed"] as? Int == 1 && rest["Left"] as? Int == 1)
            #expect(try await bench.queues.count() == 1)
            for bad in [#"{}"#, #"{"Ids":[]}"#, #"{"Ids":["x"]}"#, #"{"Ids":["\#(one)"],"All":true}"#, "[]"] {
                try (await bench.post(path, bad)).expectProblem(422)
            }
        }
    }

    /// With tracing the middleware puts the request's own span in this place.
    @Test func `What is sent again belongs to the trace of the request`() async throws {
        try await withOperator { bench in
            let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            let headers: HTTPFields = [.traceparent: parent]
            for isOne in [true, false] {
                let id = try await bench.stored()
                try await bench.record([OperatorBench.delivery(.apple, .dead, "x")], of: id)
                let path = isOne ? "/admin/api/notifications/\(id)/resend" : "/admin/api/failures/resend"
                let body = isOne ? "{}" : #"{"Reason":"x"}"#
                let report = try await bench.post(path, body, headers: headers).object()
                #expect(report["Resent"] as? Int == 1)
                #expect(try await bench.due().map(\.traceparent) == [parent])
            }
        }
    }

    @Test func `Requests are bounded`() async throws {
        try await withOperator { bench in
            for limit in ["0", "101", "-1", "x", "99999999999999999999"] {
                try (await bench.get("/admin/api/dead-letters?Limit=\(limit)")).expectProblem(422)
            }
            #expect(try await bench.get("/admin/api/dead-letters?Limit=100").status == .ok)
            let path = "/admin/api/dead-letters/replay"
            let ids = { (count: Int) in (0..<count).map { _ in "\"\(NotificationID())\"" }.joined(separator: ",") }
            try (await bench.post(path, #"{"Ids":[\#(ids(OperatorController.maxIDs + 1))]}"#)).expectProblem(422)
            let most = try await bench.post(path, #"{"Ids":[\#(ids(OperatorController.maxIDs))]}"#).object()
            #expect(most["NotFound"] as? Int == OperatorController.maxIDs)
            let large = String(repeating: " ", count: OperatorController.maxBody) + "{}"
            for path in [path, "/admin/api/notifications/search", "/admin/api/failures/resend"] {
                try (await bench.post(path, large)).expectProblem(413)
            }
        }
    }

    /// Several letters of one notification are one row.
    @Test func `Each notification is one row`() async throws {
        try await withOperator { bench in
            let id = try await bench.stored()
            try await bench.record([OperatorBench.delivery(.apple, .dead, "x")], of: id)
            bench.queues.add(id, reason: "attempts", platforms: [.apple])
            bench.queues.add(nil, reason: "unreadable")
            bench.queues.add(id, reason: "http_413", platforms: [.apple, .windows])
            bench.queues.add(nil, reason: "unreadable")
            let report = try await bench.get("/admin/api/dead-letters").object()
            #expect(report["Total"] as? Int == 4)
            let rows = try #require(report["DeadLetters"] as? [[String: Any]])
            #expect(rows.map { $0["Letters"] as? Int } == [2, 1, 1])
            #expect(rows[0]["Reason"] as? String == "http_413" && rows[0]["Bytes"] as? Int == 72)
            #expect(rows[0]["Platforms"] as? [String] == ["apple", "windows"])
        }
    }

    @Test func `What has not changed is not sent again`() async throws {
        try await withOperator { bench in
            let path = "/admin/api/notifications/\(try await bench.stored())"
            let tag = try #require(try await bench.get(path).headers[.eTag])
            let again = try await bench.get(path, headers: [.ifNoneMatch: tag])
            #expect(again.status == .notModified && again.body.readableBytes == 0)
            #expect(try await bench.get(path, headers: [.ifNoneMatch: "\"x\""]).status == .ok)
        }
    }

    @Test func `Only later points are sent to a page that has the others`() throws {
        let (table, noon) = (ProcessTable(), Timestamp(milliseconds: 1_795_262_400_000))
        for second in [0, 5, 10] { table.note([], at: noon + .seconds(second)) }
        let overview = Overview(
            time: "", service: "", version: "", sources: [], rates: .init(), queues: [], outbox: .init(), lanes: [],
            processes: [], latencies: table.latencies)
        #expect(overview.after(nil).latencies[0].points.at.count == 3)
        let later = overview.after(noon + .seconds(5)).latencies[0].points
        #expect(later.at == [(noon + .seconds(10)).description] && later.p50.count == 1)
    }

    @Test(arguments: stores) func `A life is a timeline`(_ kind: StoreKind) async throws {
        try await withOperator(kind) { bench in
            let id = try await bench.stored { $0.platforms = [.apple, .windows] }
            try await bench.record(
                [OperatorBench.delivery(.apple, .sent), OperatorBench.delivery(.windows, .dead, "HTTP 413")], of: id)
            try await bench.store.markShown(id, at: .now)
            try await bench.store.markRead(id, at: .now + .seconds(1))
            let answer = try await bench.get("/admin/api/notifications/\(id)")
            try search(bench, answer.text)
            let life = try answer.object()
            #expect(life["Recipient"] as? String == "alice" && life["Sender"] as? String == "clinic")
            #expect(life["Status"] as? String == "read" && life["CanResend"] as? Bool == true)
            let events = try #require(life["Events"] as? [[String: Any]])
            #expect(
                events.map { $0["Kind"] as? String }
                    == ["accepted", "published", "sent", "dead", "shown", "read", "expired"])
            #expect(events.last?["IsAhead"] as? Bool == true)
            let times = events.compactMap { $0["At"] as? String }
            #expect(times == times.sorted())
            let verdict = life["Verdict"] as? [String: Any]
            #expect(verdict?["Level"] as? String == "good")
            #expect(verdict?["Text"] as? String == "Its recipient has read it.")

            let resent = try await bench.post("/admin/api/notifications/\(id)/resend", "{}").object()
            #expect(resent["Resent"] as? Int == 1)
            #expect(try await bench.due().map(\.id) == [id])
            for unknown in ["\(NotificationID())", "x"] {
                try (await bench.get("/admin/api/notifications/\(unknown)")).expectProblem(404)
                #expect(try await bench.get("/notifications/\(unknown)").status == .ok)
                try (await bench.post("/admin/api/notifications/\(unknown)/resend", "{}")).expectProblem(404)
            }
        }
    }

    @Test(arguments: stores) func `A recipient's notifications are found`(_ kind: StoreKind) async throws {
        try await withOperator(kind) { bench in
            let id = try await bench.stored()
            _ = try await bench.stored { $0.recipient = UserName("bob")! }
            let path = "/admin/api/notifications/search"
            let answer = try await bench.post(path, #"{"Recipient":"alice"}"#)
            try search(bench, answer.text)
            let found = try #require(try answer.object()["Notifications"] as? [[String: Any]])
            #expect(found.map { $0["Id"] as? String } == [id.description])
            for bad in [#"{}"#, #"{"Recipient":""}"#, #"{"Recipient":"a","Before":"x"}"#, #"{"recipients":[]}"#] {
                try (await bench.post(path, bad)).expectProblem(422)
            }
        }
    }

    /// The page is a file: it asks the API, so an address that is none has the page too, which says so.
    @Test func `Every address shows the page and the API shows problems`() async throws {
        try await withOperator { bench in
            let page = try await bench.get("/")
            #expect(page.headers[.contentType] == "text/html; charset=utf-8" && page.text.contains("/operator.js"))
            for (path, status) in [("/dead-letters", 200), ("/search", 200), ("/nothing", 404), ("/a/b/c", 404)] {
                let answer = try await bench.get(path)
                #expect(answer.status.code == status && answer.text == page.text, "\(path)")
            }
            for path in ["/admin/api/nothing", "/admin/api", "//admin/api/nothing"] {
                try (await bench.get(path)).expectProblem(404)
            }
            // Every module that a file of the page names is served.
            var names = Set(["operator.js"])
            var unread = names
            while let name = unread.popFirst() {
                let file = try await bench.get("/\(name)")
                #expect(file.status == .ok && file.headers[.contentType] == "text/javascript; charset=utf-8", "\(name)")
                for match in file.text.matches(of: /from "\.\/([a-z-]+\.js)"/)
                where names.insert(String(match.1)).inserted { unread.insert(String(match.1)) }
            }
            for match in page.text.matches(of: /(?:href|src)="\/([a-z-]+\.[a-z]+)"/) {
                #expect(try await bench.get("/\(match.1)").status == .ok, "\(match.1)")
            }
        }
    }
}
