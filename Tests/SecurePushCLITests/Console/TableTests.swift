import Domain
import Foundations
import Testing

@testable import SecurePushCLI

@Suite struct TableTests {
    private let now = Timestamp(rfc3339: "2026-11-23T12:00:00Z") ?? .now
    private let id = "01890a5d-ac96-774b-bcce-b302099a8057"

    private func row(_ recipient: String, read: String? = nil) -> Wire.NotificationPage.Row {
        Wire.NotificationPage.Row(
            id: id, recipient: recipient, status: "dispatched", createdAt: "2026-11-23T11:55:00.000Z",
            expiresAt: "2026-12-23T11:55:00.000Z", readAt: read)
    }

    @Test(arguments: [60, 80, 100, 120, 170])
    func `A list fits the terminal, and its IDs are whole`(width: Int) {
        var table = Table(ListCommand.columns, width: width, now: now)
        let lines = table.lines([row("alice"), row(String(repeating: "x", count: 300))])
        #expect(lines.count == 3)
        for line in lines { #expect(line.count <= width, "\(line)") }
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix(id + "  dispatched") })
        #expect(lines[2].hasSuffix("…"))
    }

    @Test func `Columns are given up in a fixed order`() {
        func head(_ width: Int?) -> [String] {
            var table = Table(ListCommand.columns, width: width, now: now)
            return table.lines([row("alice@example.com")]).map { $0.replacing(id, with: "ID") }
        }
        #expect(head(nil)[1].contains("2026-11-23T11:55:00.000Z  2026-12-23T11:55:00.000Z  no    alice@example.com"))
        #expect(head(100)[1] == "ID  dispatched  5m ago    in 29d    no    alice@example.com")
        #expect(head(80)[0].contains("CREATED") && !head(80)[0].contains("EXPIRES"))
        #expect(head(80)[1] == "ID  dispatched  5m ago    alice@example.com")
        #expect(head(60)[1] == "ID  dispatched  5m ago    …" || head(60)[1].hasSuffix("…"))
    }

    @Test func `Later pages have the columns of the first, and no header`() {
        var table = Table(ListCommand.columns, width: 80, now: now)
        let first = table.lines([row("alice@example.com")])
        let second = table.lines([row("bob")])
        #expect(first.count == 2 && second.count == 1 && !table.isEmpty)
        #expect(second[0] == "\(id)  dispatched  5m ago    bob")
        var empty = Table(ListCommand.columns, width: 80)
        #expect(empty.lines([]).isEmpty && empty.isEmpty)
    }

    @Test(arguments: [60, 80, 120])
    func `A status fits, and its reasons are complete below the table`(width: Int) throws {
        let reason = "the hub answered 400: The supplied notification payload is not valid for this platform"
        let answer = try JSONCoding.decode(
            Wire.Status.self,
            from: """
                {"Id":"\(id)","Status":"partial","CreatedAt":"2026-11-23T11:55:00.000Z","RegisteredDevices":0,
                "Deliveries":[
                {"Platform":"apple","State":"sent","Attempts":1,"HubMessageId":"\(id)-apple",
                "Outcome":"Success=2, BadChannel=1","UpdatedAt":"2026-11-23T11:55:01.000Z"},
                {"Platform":"fcmv1","State":"dead","Attempts":10,"Error":"\(reason)",
                "UpdatedAt":"2026-11-23T11:58:00.000Z"}]}
                """)
        let lines = StatusCommand.lines(answer, width: width, now: now) { text, _ in text }
        for line in lines { #expect(line.count <= width, "\(line)") }
        #expect(lines.joined(separator: " ").replacing("   ", with: " ").contains("fcmv1: the hub answered 400"))
        #expect(lines.joined(separator: " ").replacing("   ", with: " ").contains(reason))
        let whole = StatusCommand.lines(answer, width: nil, now: now) { text, _ in text }
        #expect(whole.last?.contains(reason) == true && whole.joined().contains("\(id)-apple"))
        #expect(lines.contains { $0.contains("OUTCOME") } && lines.contains { $0.contains("Success=2, BadChannel=1") })
        #expect(whole.contains { $0.hasSuffix("Success=2, BadChannel=1") })
        #expect(whole.contains { $0.hasPrefix("Devices") && $0.contains("none registered") })
    }

    @Test func `An inbox fits, and cuts payloads only`() {
        let row = Wire.InboxPage.Row(
            id: id, createdAt: "2026-11-23T11:55:00.000Z", read: false,
            payload: String(repeating: "secret ", count: 40))
        func lines(_ width: Int?) -> [String] {
            var table = Table(InboxCommand.columns(withPayloads: true), width: width, now: now)
            return table.lines([row])
        }
        let narrow = lines(80)
        #expect(
            narrow.allSatisfy { $0.count <= 80 } && narrow[1].hasPrefix("\(id)  5m ago") && narrow[1].hasSuffix("…"))
        #expect(lines(nil).last?.count ?? 0 > 280)
    }

    @Test func `Words stand to the left, numbers to the right`() {
        var table = Table<[String]>([
            Column("a") { $0[0] }, Column("bb", isNumber: true) { $0[1] }, Column("c", isNumber: true) { $0[2] },
        ])
        #expect(
            table.lines([["long name", "1", "1,000"], ["x", "", ""]]) == [
                "a          bb      c", "long name   1  1,000", "x",
            ])
        #expect(table.lines([]).isEmpty)
    }

    @Test(arguments: [
        ("2026-11-23T12:00:00Z", "now"), ("2026-11-23T11:59:00Z", "60s ago"), ("2026-11-23T11:00:00Z", "60m ago"),
        ("2026-11-22T12:00:00Z", "24h ago"), ("2026-10-23T12:00:00Z", "31d ago"), ("2026-11-26T12:00:00Z", "in 3d"),
        ("yesterday", "yesterday"),
    ])
    func `Relative times`(time: String, text: String) {
        #expect(RelativeTime.text(time, now: now) == text)
    }
}
