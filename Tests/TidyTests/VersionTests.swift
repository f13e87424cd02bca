import Foundation
import TestSupport
import Testing

/// One version for all: `SecurePushVersion.current`. Package, image and OpenAPI documents take it from the executable.
@Suite struct VersionTests {
    /// Files that name the version, and where in them.
    private static let places: [(path: String, pattern: String)] = [
        ("CHANGELOG.md", #"(?m)^## (\d\S*) - \d{4}-\d\d-\d\d$"#),
        ("Clients/Android/build.gradle.kts", #"(?m)^version = "(.*)"$"#),
        ("Clients/Android/src/main/kotlin/securepush/ShownReport.kt", #"SDK_VERSION = "(.*)""#),
        ("Clients/Swift/README.md", #"exact: "(.*)""#),
        ("Clients/Swift/Sources/SecurePushClient/Client/SecurePushClient.swift", #"static let version = "(.*)""#),
        ("Clients/Web/lib/version.js", "'web/(.*)'"),
        ("Clients/Web/package.json", #""version": "(.*)""#),
        ("Clients/Windows/Package.props", "<Version>(.*)</Version>"),
        ("Clients/Windows/SecurePush.Client/Store/ShownReport.cs", #""windows/(.*)""#),
        ("Makefile", #"/securepush:([\w.-]+)"#),
        ("Shared/ServiceRuntime/OpenAPI/common.json", #""Version": "(.*?)""#),
        ("deploy/Dockerfile", "ARG VERSION=(.*)"),
        ("deploy/helm/securepush/Chart.yaml", "(?:version|appVersion): (.*)"),
        ("docs/how-to/deploy-on-kubernetes.md", #"/securepush:([\w.-]+)"#),
        ("docs/how-to/deploy-with-systemd.md", "securepush_(.*)-1_amd64.deb"),
        ("docs/how-to/receive-on-ios.md", "the tag `(.*?)`"),
        ("docs/reference/http-api.md", #""Version":"(.*?)""#),
    ]

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: TestEnvironment.packageRoot.appending(path: path), encoding: .utf8)
    }

    @Test func `Every place names the version of the services`() throws {
        let source = try Self.text("Shared/ServiceRuntime/Main/SecurePushVersion.swift")
        let current = try #require(source.firstMatch(of: /static let current = "(.+)"/)).1
        for (path, pattern) in Self.places {
            let matches = try Self.text(path).matches(of: Regex<(Substring, Substring)>(pattern))
            #expect(!matches.isEmpty, "\(path) names no version")
            // The changelog has the newest release first. Debian's sign for a version before a release is ~.
            for match in path == "CHANGELOG.md" ? Array(matches.prefix(1)) : matches {
                #expect(match.1.replacing("~", with: "-") == current, "\(path)")
            }
        }
    }
}
