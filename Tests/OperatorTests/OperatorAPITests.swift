import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import ServiceRuntime
import Storage
import Synchronization
import Testing

@testable import Operator

/// Every endpoint on every store.
@Suite("The operator's API", .serialized)
struct AdminAPITests {
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
            #expect(outbox["Pending"] as? Int == 7)
            let sources = try #require(overview["Sources"] as? [[String: Any]])
            #expect(sources.map { $0["Name"] as? String } == ["database", "broker", "dispatchers", "retrieval"])
            #expect(sources.map { $0["State"] as? String } == ["up", "up", "up", "off"])
            try (await bench.get("/admin/api/overview?Window=1y")).expectProblem(422)
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
            let page = try await bench.get("/").text
            let end = try #require(page.split(separator: #"id="live-queues""#).last)
            let queues = try #require(end.split(separator: "</section>").first)
            // A slow machine may take a minute or two.
            #expect(queues.contains(/oldest notification that is not final: <b>\d+ min<\/b>/))
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
            let page = try await bench.get("/").text
            #expect(page.contains("<bdi>broker</bdi> cannot be reached") && page.contains("connection refused"))
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
                try await bench.record([OperatorBench.delivery(.apple, .dead, reason(index))], of: id)
                ids.append(id)
            }
            let other = try await bench.stored()
            try await bench.record([OperatorBench.delivery(.windows, .dead, "HTTP 413")], of: other)
            let answer = try await bench.get("/admin/api/failures")
            try search(bench, answer.text)
            let groups = try #require(try answer.object()["Groups"] as? [[String: Any]])
            #expect(groups.map { $0["Count"] as? Int } == [3, 1])
            #expect(groups.map { $0["Platform"] as? String } == ["apple", "windows"])
            #expect(groups.map { $0["Reason"] as? String } == ["HTTP 400: Bad", "HTTP 413"])
            #expect(Set(groups[0]["Ids"] as? [String] ?? []) == Set(ids.map(\.description)))

            let body = #"{"Platform":"apple","Reason":"HTTP 400: Bad"}"#
            let result = try await bench.post("/admin/api/failures/resend", body).object()
            #expect(result["Resent"] as? Int == 3 && result["HasMore"] as? Bool == false)
            #expect(Set((await bench.handedOver.take() ?? []).map(\.id)) == Set(ids))
            let left = try await bench.get("/admin/api/failures").object()
            #expect((left["Groups"] as? [[String: Any]])?.map { $0["Platform"] as? String } == ["windows"])
            let long = String(repeating: "x", count: FailureKey.maxReason + 1)
            for bad in [
                #"{"Platform":"apple"}"#, #"{"Platform":"apple","Reason":"\#(long)"}"#,
                #"{"Platform":"\#(long)","Reason":"x"}"#, #"{"Platform":"apple","Reason":"x","Window":"1y"}"#,
                #"{"Platform":"apple","Reason":"x","Before":"x"}"#, #"{"Platform":"apple","Reason":"x","Before":1}"#,
            ] {
                try (await bench.post("/admin/api/failures/resend", bad)).expectProblem(422)
            }
        }
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
            #expect(try await bench.queues.count() == 4)

            let path = "/admin/api/dead-letters/replay"
            let first = try await bench.post(path, #"{"Ids":["\#(two)"]}"#).object()
            #expect(first["Replayed"] as? Int == 1 && bench.publisher.ids == [two])
            let rest = try await bench.post(path, #"{"All":true}"#).object()
            #expect(rest["Replayed"] as? Int == 1 && rest["Left"] as? Int == 2)
            #expect(try await bench.queues.count() == 2)
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
                let body = isOne ? "{}" : #"{"Platform":"apple","Reason":"x"}"#
                let report = try await bench.post(path, body, headers: headers).object()
                #expect(report["Resent"] as? Int == 1)
                #expect((await bench.handedOver.take() ?? []).map(\.traceparent) == [parent])
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

    /// A broker that stops in between: what was replayed is told, and why the rest was not.
    @Test func `A replay that stops tells why`() async throws {
        try await withOperator { bench in
            let (one, two) = (try await bench.stored(), try await bench.stored())
            for id in [one, two] {
                try await bench.record([OperatorBench.delivery(.apple, .dead, "x")], of: id)
                bench.queues.add(id, reason: "attempts", platforms: [.apple])
            }
            bench.publisher.refuse([two])
            let answer = try await bench.post("/admin/api/dead-letters/replay", #"{"All":true}"#).object()
            #expect(answer["Replayed"] as? Int == 1 && answer["Left"] as? Int == 1)
            #expect(answer["Failure"] as? String == "refused")
            try (await bench.post("/admin/api/dead-letters/replay", #"{"All":true}"#)).expectProblem(503)
            bench.publisher.refuse([])
            let last = try await bench.post("/admin/api/dead-letters/replay", #"{"All":true}"#).object()
            #expect(last["Replayed"] as? Int == 1 && last["Failure"] == nil)
        }
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
            let page = try await bench.get("/notifications/\(id)")
            try search(bench, page.text)
            #expect(page.text.contains("HTTP 413") && page.text.contains("alice"))

            let resent = try await bench.post("/admin/api/notifications/\(id)/resend", "{}").object()
            #expect(resent["Resent"] as? Int == 1)
            #expect((await bench.handedOver.take() ?? []).map(\.id) == [id])
            for unknown in ["\(NotificationID())", "x"] {
                try (await bench.get("/admin/api/notifications/\(unknown)")).expectProblem(404)
                try (await bench.get("/notifications/\(unknown)")).expectProblem(404)
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

    @Test func `Text is never markup`() async throws {
        try await withOperator { bench in
            let id = try await bench.stored { $0.recipient = UserName("<b>{{title}}</b>")! }
            try await bench.record([OperatorBench.delivery(.apple, .dead, "<script>\"'&{{id}}")], of: id)
            bench.queues.add(id, reason: "<i>x</i>")
            for path in ["/", "/notifications/\(id)", "/dead-letters"] {
                let page = try await bench.get(path).text
                #expect(!page.contains("<script>") && !page.contains("<b>{{") && !page.contains("<i>x"), "\(path)")
            }
            #expect(try await bench.get("/notifications/\(id)").text.contains("&lt;b&gt;{{title}}&lt;/b&gt;"))
        }
    }

    /// A scalar that joins the next one, such as U+0600, or an accent after it, makes `<` and quotes other characters.
    @Test func `Joined text is never markup`() async throws {
        try await withOperator { bench in
            let id = try await bench.stored { $0.recipient = UserName("\u{600}<img src=\"//a\">")! }
            let reason = "a\"\u{301} data-action=\"x\"\u{301}\u{600}<i>"
            try await bench.record([OperatorBench.delivery(.apple, .dead, reason)], of: id)
            bench.queues.add(id, reason: reason)
            for path in ["/", "/notifications/\(id)", "/dead-letters"] {
                let page = Array(try await bench.get(path).text.unicodeScalars)
                for markup in ["<img", "<i>", "\"\u{301}"] {
                    #expect(!page.contains(Array(markup.unicodeScalars)), "\(markup) in \(path)")
                }
            }
        }
    }
}
