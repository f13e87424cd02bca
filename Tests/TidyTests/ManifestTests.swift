import Foundation
import TestSupport
import Testing

/// What a fresh clone is built from and checked with. The lock file is not kept, so Package.swift pins everything.
@Suite struct ManifestTests {
    private struct Lock: Decodable {
        struct Pin: Decodable {
            struct State: Decodable { let version: String? }

            let identity: String
            let state: State
        }

        let pins: [Pin]
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: TestEnvironment.packageRoot.appending(path: path), encoding: .utf8)
    }

    /// The versions in Package.swift, by the name that SwiftPM makes of the URL.
    private static func versions() throws -> [String: String] {
        let pattern = /\.package\(url: "[^"]*\/([^"\/]+)", exact: "([0-9.]+)"/
        let pins = try text("Package.swift").matches(of: pattern).map { match in
            let name = match.1.lowercased()
            return (name.hasSuffix(".git") ? String(name.dropLast(4)) : name, String(match.2))
        }
        return Dictionary(pins) { first, _ in first }
    }

    @Test func `Every dependency has one version`() throws {
        for line in try Self.text("Package.swift").split(separator: "\n") where line.contains(".package(url:") {
            #expect(line.contains(", exact: \""), "\(line) lets the version float")
        }
    }

    /// The SDK is a package of its own, for apps too. What it depends on has the same version here.
    @Test func `The client has the same versions`() throws {
        let versions = try Self.versions()
        let pattern = /\.package\(url: "[^"]*\/([^"\/]+)", exact: "([0-9.]+)"/
        let pins = try Self.text("Clients/Swift/Package.swift").matches(of: pattern)
        #expect(!pins.isEmpty)
        for pin in pins { #expect(versions[String(pin.1)] == String(pin.2), "\(pin.1)") }
    }

    /// The lock file is there, for SwiftPM writes it when it resolves; it is only not committed.
    @Test func `Nothing else is resolved`() throws {
        let lock = try JSONDecoder().decode(Lock.self, from: Data(Self.text("Package.resolved").utf8))
        let versions = try Self.versions()
        #expect(!lock.pins.isEmpty)
        for pin in lock.pins {
            #expect(versions[pin.identity] == pin.state.version, "Package.swift does not pin \(pin.identity)")
        }
    }

    @Test func `Continuous integration checks the form`() throws {
        #expect(try Self.text(".ci/run").split(separator: "\n").contains("make lint"))
    }
}
