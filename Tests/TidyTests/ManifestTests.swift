import Foundation
import StackKit
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

    /// `swift package dump-package`, as far as it is looked at here.
    private struct Manifest: Decodable {
        struct Target: Decodable {
            let name: String
            let path: String?
            let dependencies: [[String: [Member?]]]

            /// The first word of each dependency is a module's name; a product here is named after its module.
            var modules: Set<String> {
                Set(
                    dependencies.flatMap(\.values).compactMap {
                        if case .name(let name)? = $0.first { name } else { nil }
                    })
            }
        }

        /// A name, or the condition of a dependency.
        enum Member: Decodable {
            case name(String), condition

            init(from decoder: any Decoder) throws {
                let name = try? decoder.singleValueContainer().decode(String.self)
                self = name.map(Self.name) ?? .condition
            }
        }

        let targets: [Target]
    }

    /// Modules of Swift and of the operating systems.
    private static let platform: Set = [
        "CoreFoundation", "CryptoKit", "Darwin", "Dispatch", "Foundation", "FoundationEssentials",
        "FoundationNetworking", "Glibc", "Musl", "Synchronization", "Testing",
    ]

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

    /// The SDK is a package of its own, for apps too, which bring versions of their own: it takes a whole major version,
    /// and the one here is in it.
    @Test func `The client takes the version that is pinned here`() throws {
        let versions = try Self.versions()
        let pattern = /\.package\(url: "[^"]*\/([^"\/]+)", "([0-9]+)\.0\.0"\.\.<"([0-9]+)\.0\.0"/
        let text = try Self.text("Clients/Swift/Package.swift")
        let ranges = text.matches(of: pattern)
        #expect(!ranges.isEmpty && ranges.count == text.matches(of: /\.package\(/).count)
        for range in ranges {
            let major = try #require(versions[String(range.1)]?.split(separator: ".").first.flatMap { Int($0) })
            let (first, end) = (try #require(Int(range.2)), try #require(Int(range.3)))
            #expect((first..<end).contains(major), "\(range.1)")
        }
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

    /// Such an import compiles in a folder that has the module from an earlier build, and not in a fresh clone.
    @Test func `A target depends on every module that it imports`() async throws {
        let root = TestEnvironment.packageRoot.path
        let manifest = try await run("swift", ["package", "--package-path", root, "dump-package"])
        let targets = try JSONDecoder().decode(Manifest.self, from: Data(manifest.utf8)).targets
        #expect(targets.contains { $0.name == "Ingest" && $0.modules.contains("Hummingbird") })
        for target in targets {
            guard let path = target.path else { continue }
            let known = target.modules.union(Self.platform)
            for file in SourceFile.all where file.path.hasPrefix(path + "/") {
                for name in file.imports where !known.contains(name) {
                    Issue.record("\(file.path) imports \(name): add it to \(target.name) in Package.swift.")
                }
            }
        }
    }
}
