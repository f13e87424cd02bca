import Foundations
import Testing

@testable import Hub

@Suite struct HubAccessTests {
    private static let key = "c2VjdXJlcHVzaC1odWItdGVzdC1rZXktMDEyMzQ1Njc="

    private func read(_ text: String) throws -> HubAccess { try HubAccess(text, endpointHost: "hub.test") }

    @Test func `Rules make hubs`() throws {
        let access = try read(
            """
            # HUB RULE RIGHTS KEY [SECONDARYKEY]
            SecurePush dispatcher Send \(Self.key)
              securepush\tretrieval  manage \(Self.key) \(Self.key)\r

            other apps listen+SEND \(Self.key)
            * root Manage \(Self.key)
            """)
        #expect(access.hubs == ["securepush": "SecurePush", "other": "other"])
        #expect(access["securepush"] != nil && access["nobody"] == nil && access["*"] == nil)
    }

    @Test(
        arguments: [
            ("Listen", AccessRights.listen), ("send", .send), ("Listen+Send", [.listen, .send]), ("Manage", .full),
            ("Manage+Listen", .full),
        ] as [(String, AccessRights)])
    func `Manage includes the other rights`(_ text: String, _ rights: AccessRights) {
        #expect(AccessRights(text: text) == rights)
    }

    @Test(arguments: ["", "Fly", "Listen+", "+Send", "Listen,Send", "Listen +Send"])
    func `Other rights are refused`(_ text: String) { #expect(AccessRights(text: text) == nil) }

    @Test(arguments: [
        ("", "names no hub"), ("# nothing", "names no hub"), ("* root Manage KEY", "names no hub"),
        ("hub rule Send", "is not HUB RULE RIGHTS KEY"), ("hub rule Send KEY KEY KEY", "is not HUB RULE RIGHTS KEY"),
        ("livez rule Send KEY", "reserved"), ("ReadyZ rule Send KEY", "reserved"), ("metrics r Send KEY", "reserved"),
        ("$Resources r Send KEY", "reserved"), ("emulator r Send KEY", "reserved"), ("a/b r Send KEY", "letters"),
        ("-.- r Send KEY", "letters"), ("häb r Send KEY", "letters"), ("hub r;x Send KEY", "name of the rule"),
        ("hub r Fly KEY", "rights"), ("hub r Send c2hvcnQ=", "Base64 of 16 bytes"),
        ("hub r Send not-base-64-not-base-64-not-base", "Base64"), ("hub r Send KEY c2hvcnQ=", "Base64"),
        ("hub r Send KEY\nHUB r Listen KEY", "Line 2: it has the hub and the rule of line 1 again"),
    ])
    func `A mistake is named by its line, without the line`(_ text: String, _ reason: String) throws {
        let error = try #require(
            throws: SetupError.self, performing: { try read(text.replacing("KEY", with: Self.key)) })
        #expect(error.message.contains(reason), "\(error.message)")
        #expect(!error.message.contains(Self.key) && !error.message.contains("c2hvcnQ="))
    }

    @Test func `The list of mistakes is bounded`() throws {
        let lines = (1...100).map { "hub r\($0) Fly \(Self.key)" }.joined(separator: "\n")
        let error = try #require(throws: SetupError.self, performing: { try read(lines) })
        #expect(error.message.contains("Line 20:") && error.message.hasSuffix("80 more."))
        #expect(!error.message.contains("Line 21:"))
    }

    @Test func `A new hub is added once`() throws {
        let (text, rules) = try HubTools.adding("securepush", to: nil)
        #expect(rules.map(\.name) == ["dispatcher", "retrieval", "apps"])
        #expect(rules.map(\.rights) == ["Send", "Manage", "Listen"])
        #expect(Set(rules.map(\.key)).count == 3)
        #expect(try read(text).hubs == ["securepush": "securepush"])
        let (both, _) = try HubTools.adding("Other", to: text)
        #expect(both.hasPrefix(text))
        #expect(try read(both).hubs.keys.sorted() == ["other", "securepush"])
        let again = #expect(throws: SetupError.self) { try HubTools.adding("SECUREPUSH", to: both) }
        #expect(again?.code == .alreadyExists)
        #expect(throws: SetupError.self) { try HubTools.adding("livez", to: nil) }
        #expect(throws: SetupError.self) { try HubTools.adding("third", to: "not a rule") }
    }
}
