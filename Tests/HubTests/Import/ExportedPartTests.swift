import Foundations
import Storage
import Testing

@testable import Hub

@Suite struct ExportedPartTests {
    private static let time = Timestamp(milliseconds: 1_790_000_000_000)

    private static func part(_ line: String) throws -> ExportedPart {
        struct NoPart: Error { var line: ExportedLine }
        let line = ExportedLine(Array(line.utf8), exportedAt: time, now: time) { _ in nil }
        guard case .part(let part) = line else { throw NoPart(line: line) }
        return part
    }

    private static let device = TestExport.phone("1-1", tags: TestExport.tags("Phone-1", user: "alice", "b,a"))
    private static let templates = ["x", "y"].map {
        TestExport.template("2-\($0)", name: $0, tags: TestExport.tags("Phone-1", user: "alice", "a,b,only-\($0)"))
    }

    /// In any order, and in batches: each part in a batch of its own, or all in one.
    @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 0, 2]], [true, false])
    func `An installation is what its registrations say`(order: [Int], inOne: Bool) throws {
        let lines = [Self.device] + Self.templates
        let parts = try order.map { try Self.part(lines[$0]) }
        #expect(Set(parts.map(\.installationID)) == ["phone-1"])
        var found: HubInstallation?
        if inOne {
            found = try HubInstallation(parts, former: nil)
        } else {
            for part in parts { found = try HubInstallation([part], former: found) }
        }
        let installation = try #require(found)
        #expect(installation.id == "Phone-1" && installation.platform == .apple && installation.userID == "alice")
        #expect(installation.pushChannel == .handle("00FC"))
        #expect(installation.tags.sorted() == ["a", "b"] && installation.expirationTime == HubInstallation.never)
        #expect(Set(installation.templates.entries.map(\.name)) == ["x", "y"])
        #expect(installation.templates["x"]?.tags == ["only-x"])
        #expect(installation.templates["y"]?.body == "{\"aps\":\"$(x)\"}")
        // What a client gets, and what a send to a tag reaches, is as before.
        let registrations = installation.registrations(at: Self.time)
        #expect(registrations.map(\.slot).sorted { $0 ?? "" < $1 ?? "" } == parts.map(\.slot).sorted())
        let device = try #require(registrations.first { $0.slot == "" })
        #expect(device.tags == ["$InstallationId:{Phone-1}", "$UserId:{alice}", "a", "b"])
    }

    @Test func `Variables, headers, the expiry and a browser's keys are kept`() throws {
        let browser = TestExport.line(
            "BrowserTemplate", id: "1", tags: TestExport.tags("i", user: "u"),
            "<PushVariables>{\"v\":\"1\"}</PushVariables><Endpoint>https://push.example/x</Endpoint><P256DH>p</P256DH>"
                + "<Auth>a</Auth><BodyTemplate>b</BodyTemplate><TemplateName>n</TemplateName><Expiry>e</Expiry>")
        let installation = try HubInstallation([try Self.part(browser)], former: nil)
        #expect(
            installation.pushChannel
                == .browser(endpoint: "https://push.example/x", p256dh: "p", auth: "a", isText: false))
        #expect(installation.pushVariables["v"] == "1" && installation.templates["n"]?.expiry == "e")
        let windows = TestExport.line(
            "WindowsTemplate", id: "1", tags: TestExport.tags("i", user: "u"),
            "<ChannelUri>https://x.notify.windows.com/</ChannelUri><BodyTemplate>b</BodyTemplate>"
                + "<WnsHeaders><WnsHeader><Header>X-WNS-Type</Header><Value>wns/raw</Value></WnsHeader></WnsHeaders>"
                + "<TemplateName>n</TemplateName>")
        let phone = try HubInstallation([try Self.part(windows)], former: nil)
        #expect(phone.templates["n"]?.headers["X-WNS-Type"] == "wns/raw")
    }

    @Test func `A secondary tile and a template without a name are registrations of their own`() {
        let tags = TestExport.tags("i", user: "u")
        let lines = [
            TestExport.line(
                "Windows", id: "1", tags: tags,
                "<ChannelUri>https://x</ChannelUri><SecondaryTileName>t</SecondaryTileName>"),
            TestExport.template("2", name: "", tags: tags),
        ]
        for line in lines {
            let read = ExportedLine(Array(line.utf8), exportedAt: Self.time, now: Self.time) { _ in nil }
            guard case .registration(let registration) = read else { return #expect(Bool(false), "\(read)") }
            #expect(registration.tags.contains("$InstallationId:{i}"))
        }
    }
}
