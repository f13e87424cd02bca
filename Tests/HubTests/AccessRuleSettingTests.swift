import Foundation
import ServiceConfiguration
import Testing

@testable import Hub

@Suite struct AccessRuleSettingTests {
    @Test(
        arguments: [
            ("sender:Send:a2V5+/=", "sender", ["a2V5+/="], AccessRights.send),
            ("r:listen+SEND:k:k2", "r", ["k", "k2"], [.listen, .send]),
            ("RootManageSharedAccessKey:Listen+Send+Manage:k", "RootManageSharedAccessKey", ["k"], .full),
        ] as [(String, String, [String], AccessRights)])
    func `A rule is read`(_ text: String, _ name: String, _ keys: [String], _ rights: AccessRights) throws {
        let rule = try #require(SharedAccessRule(setting: text))
        #expect(rule.name == name)
        #expect(rule.keys == keys)
        #expect(rule.rights == rights)
    }

    @Test(arguments: [
        "", "a", "a:Send", "a:Send:", ":Send:k", "a::k", "a:Fly:k", "a:Send+:k", "a:Send:k:", "a:Send:k:l:m",
    ])
    func `Other things are not`(_ text: String) {
        #expect(SharedAccessRule(setting: text) == nil)
    }

    @Test func `The configuration takes several and never shows a bad one`() throws {
        var reader = ConfigurationReader(environment: ["EMULATOR_ACCESS_RULES": "a:Send:k1, b:Manage:k2"])
        let configuration = try #require(EmulatorConfiguration.read(&reader))
        #expect(configuration.rules.map(\.name).suffix(2) == ["a", "b"])
        var bad = ConfigurationReader(environment: ["EMULATOR_ACCESS_RULES": "a:Send:k1,secret-and-wrong"])
        #expect(EmulatorConfiguration.read(&bad) == nil)
        #expect(bad.issues.map(\.key) == ["EMULATOR_ACCESS_RULES"])
        #expect(!bad.issues.contains { $0.problem.contains("secret") })
    }

    @Test func `Every secret may be in a file`() throws {
        let keys = ConfigurationReader.keys { _ = EmulatorConfiguration.read(&$0) }
        let names = keys.map(\.name)
        for key in keys where key.isSecret { #expect(names.contains(key.name + "_FILE")) }
        let file = FileManager.default.temporaryDirectory.appending(path: "rules-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("a:Send:k1, b:Manage:k2\n".utf8).write(to: file)
        var reader = ConfigurationReader(environment: ["SECUREPUSH_EMULATOR_ACCESS_RULES_FILE": file.path])
        #expect(try #require(EmulatorConfiguration.read(&reader)).rules.map(\.name).suffix(2) == ["a", "b"])
        try Data("a:Fly:secret".utf8).write(to: file)
        #expect(EmulatorConfiguration.read(&reader) == nil)
        #expect(!reader.issues.isEmpty && !reader.issues.contains { $0.problem.contains("secret") })
    }
}
