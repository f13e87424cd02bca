import Foundations
import Storage
import Testing

@testable import Hub

@Suite struct ExportedLineTests {
    private let exportedAt = Timestamp(milliseconds: 1_790_000_000_000)

    private func read(_ line: String, problem: (RegistrationEntry) -> String? = { _ in nil }) -> ExportedLine {
        ExportedLine(Array(line.utf8), exportedAt: exportedAt, now: exportedAt + .seconds(60), problem: problem)
    }

    private func registration(_ line: String) throws -> RegistrationEntry {
        guard case .registration(let registration) = read(line) else {
            throw SetupMistake(description: "\(read(line))")
        }
        return registration
    }

    private struct SetupMistake: Error { var description: String }

    @Test(arguments: ["", "\u{FEFF}", "<?xml version=\"1.0\" encoding=\"utf-8\"?>", "  "])
    func `A registration is read with its tags`(_ before: String) throws {
        let found = try registration(before + TestExport.phone("1-2-3", tags: "username:alice, VIP") + "\r")
        #expect(found.id == "1-2-3" && found.format == .apple && found.handle == "00FC" && !found.isTemplate)
        #expect(found.tags == ["username:alice", "VIP"] && found.updatedAt == exportedAt)
        #expect(found.stored.document.isEmpty)
    }

    @Test func `An Atom entry and an element of its own type are read too`() throws {
        let element =
            "<GcmRegistrationDescription xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\">"
            + "<RegistrationId>4</RegistrationId><GcmRegistrationId>abc:d</GcmRegistrationId></GcmRegistrationDescription>"
        let entry =
            "<entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\">\(element)</content></entry>"
        for line in [element, entry] {
            let found = try registration(line)
            #expect(found.id == "4" && found.format == .gcm && found.handle == "abc:d" && found.tags.isEmpty)
        }
    }

    @Test func `A template keeps its body and name`() throws {
        let found = try registration(TestExport.template("5", name: "n"))
        #expect(found.isTemplate && found.field("BodyTemplate") == "{\"aps\":\"$(x)\"}")
        #expect(found.field("TemplateName") == "n")
        #expect(RegistrationEntry(found.stored)?.fields == found.fields)
    }

    @Test(
        arguments: [
            ("Mpns", "<ChannelUri>https://x</ChannelUri>", "windowsphone"),
            ("AdmTemplate", "<AdmRegistrationId>x</AdmRegistrationId>", "adm"),
            ("Baidu", "<BaiduUserId>1</BaiduUserId><BaiduChannelId>2</BaiduChannelId>", "baidu"),
            ("NokiaX", "<NokiaXRegistrationId>x</NokiaXRegistrationId>", "unknown"),
        ])
    func `Platforms that the hub cannot push to are named`(type: String, fields: String, platform: String) {
        guard case .otherPlatform(platform) = read(TestExport.line(type, id: "1", fields)) else {
            return #expect(Bool(false), "\(read(TestExport.line(type, id: "1", fields)))")
        }
    }

    @Test(arguments: ["1999-12-31T23:59:59.9999999Z", "2026-09-21T13:33:00"])
    func `What has expired is counted`(_ time: String) {
        guard case .expired = read(TestExport.line("Apple", id: "1", expires: time, "<DeviceToken>AB</DeviceToken>"))
        else { return #expect(Bool(false)) }
    }

    @Test func `One that expires later is read`() throws {
        _ = try registration(
            TestExport.line("Apple", id: "1", expires: "2030-01-01T00:00:00Z", "<DeviceToken>AB</DeviceToken>"))
    }

    @Test(arguments: ["", " \t\r", "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r"])
    func `Lines without an element are left out`(_ line: String) {
        guard case .blank = read(line) else { return #expect(Bool(false), "\(read(line))") }
    }

    @Test(
        arguments: [
            ("<a", "near byte"), ("hello", "no root element"), ("<a/>", "no registration description"),
            (TestExport.phone("1") + TestExport.phone("2"), "after the root element"),
            (TestExport.phone("a/b"), "RegistrationId"), (TestExport.phone(""), "RegistrationId"),
            (TestExport.phone("1", tags: "a b"), "A tag is invalid"),
            (TestExport.phone("1", tags: (0...60).map { "t\($0)" }.joined(separator: ",")), "at most 60 tags"),
            (TestExport.phone("1", tags: "$InstallationId:{a},$InstallationId:{b}"), "more than one"),
            (TestExport.phone("1", token: ""), "lacks DeviceToken"),
            (TestExport.phone("1", token: String(repeating: "A", count: 5000)), "handle"),
            (TestExport.line("Apple", id: "1", expires: "soon", "<DeviceToken>AB</DeviceToken>"), "ExpirationTime"),
            (TestExport.phone("1\u{0}"), "forbids"),
        ])
    func `A bad line has a reason, which repeats nothing of it`(line: String, reason: String) {
        guard case .bad(let text) = read(line) else { return #expect(Bool(false), "\(read(line))") }
        #expect(text.contains(reason) && !text.contains("00fc") && !text.contains("AAAA"), "\(text)")
    }

    @Test func `An address that the hub has no use for is bad`() {
        guard case .bad("The token is odd.") = read(TestExport.phone("1"), problem: { _ in "The token is odd." }) else {
            return #expect(Bool(false))
        }
    }

    @Test func `Bytes that are not UTF-8 are bad`() {
        let line = ExportedLine([0x3C, 0xFF], exportedAt: exportedAt, now: exportedAt) { _ in nil }
        guard case .bad = line else { return #expect(Bool(false)) }
    }
}
