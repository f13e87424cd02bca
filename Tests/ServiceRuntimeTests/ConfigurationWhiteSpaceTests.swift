import Foundation
import Foundations
import TestSupport
import Testing

@testable import ServiceConfiguration

@Suite("Blanks and control characters around and in settings")
struct ConfigurationWhiteSpaceTests {
    static let blanks = [
        "%\n", " %", "%\r\n", "\t%\t", "\u{A0}%", "%\u{200B}", "\u{FEFF}%", "%\u{2028}", "\u{3000}%\u{85}",
    ]

    @Test(arguments: blanks)
    func `They are trimmed in variables, prefixed ones, flags and files alike`(form: String) async throws {
        try await withTemporaryFolderURL { try Self.expectTrimmed(form, in: $0) }
    }

    private static func expectTrimmed(_ form: String, in folder: URL) throws {
        let value = "sqlite:/x/s.sqlite"
        let text = form.replacing("%", with: value)
        let path = folder.appending(path: "url").path
        try Data(text.utf8).write(to: URL(filePath: path))
        for (flags, environment) in [
            ([:], ["DATABASE_URL": text]), ([:], ["SECUREPUSH_DATABASE_URL": text]), (["DATABASE_URL": text], [:]),
            ([:], ["DATABASE_URL_FILE": path + "\n"]), ([:], ["DATABASE_URL": text, "SECUREPUSH_DATABASE_URL": value]),
        ] as [([String: String], [String: String])] {
            var reader = ConfigurationReader(flags: flags, environment: environment)
            let found = reader[\.databaseURL, orFile: \.databaseURLFile]
            #expect(OutsideText.areSame(found, value), "\(environment)")
            #expect(reader.issues.isEmpty, "\(reader.issues)")
        }
    }

    @Test(arguments: ["a\rb", "a\nb", "a\u{0}b", "a\u{1B}b", "a\u{7F}b", "a\u{200B}b", "a\u{202E}b", "a\tb"])
    func `One inside is an issue that never shows the value`(text: String) async throws {
        try await withTemporaryFolderURL { try Self.expectRefused(text, in: $0) }
    }

    private static func expectRefused(_ text: String, in folder: URL) throws {
        let path = folder.appending(path: "url").path
        try Data(text.utf8).write(to: URL(filePath: path))
        for (flags, environment) in [
            ([:], ["AMQP_URL": text]), ([:], ["SECUREPUSH_AMQP_URL": text]), (["AMQP_URL": text], [:]),
            ([:], ["AMQP_URL_FILE": path]),
        ] as [([String: String], [String: String])] {
            var reader = ConfigurationReader(flags: flags, environment: environment)
            #expect(reader[\.amqpURL, orFile: \.amqpURLFile] == ConfigurationKeys.amqpURL.fallback)
            let issue = try #require(reader.issues.first)
            #expect(reader.issues.count == 1 && issue.problem.contains("control character inside (U+"), "\(issue)")
            #expect(!issue.problem.contains("a\(text.unicodeScalars.dropFirst().first!)b"))
        }
        var reader = ConfigurationReader(environment: ["HUB_NAME": text, "AUTH_ISSUER": text])
        #expect(reader[\.hubName] == nil && reader[\.authIssuer] == nil)
        #expect(reader.issues.count == 2)
    }

    @Test(arguments: [" ", "\n", "\u{FEFF}", "\u{A0}\u{200B}"])
    func `Blanks alone are not a value`(text: String) {
        var reader = ConfigurationReader(environment: ["HTTP_PORT": text])
        #expect(reader[ConfigurationKeys.port(default: 8080)] == 8080)
    }

    @Test func `Values that only look alike are different`() {
        let environment = SettingsEnvironment(["HUB_NAME": "caf\u{E9}", "SECUREPUSH_HUB_NAME": "cafe\u{301}"])
        #expect(environment.conflict(of: "HUB_NAME") != nil)
    }

    @Test(
        arguments: [
            "https://u:hunter2@idp.example:99999/x?sig=hunter2", "http://u:p@hunter2@idp.example/",
            "u:hunter2@idp.example",
            "https:/u:hunter2@idp.example/k", "idp.example/k?sig=hunter2",
        ], ["URL", "X"])
    func `A refused URL is shown without its secrets`(url: String, hint: String) {
        let parser = ConfigurationParser<String>(hint: hint) { _ throws(ConfigurationRefusal) in
            throw ConfigurationRefusal("is wrong")
        }
        var reader = ConfigurationReader(environment: ["AUTH_JWKS_URL": url])
        #expect(reader[ConfigurationKey("AUTH_JWKS_URL", parser, meaning: "URL")] == nil)
        #expect(reader.issues.count == 1 && !"\(reader.issues)".contains("hunter2"), "\(reader.issues)")
    }
}
