import Foundation
import StackKit
import TestSupport
import Testing

/// The Debian packages and the systemd units: `scripts/deb-check.sh` builds the packages from the executables of this
/// build, installs them in a scratch root, and purges them. It needs Debian's tools; elsewhere this test only says so.
@Suite(.timeLimit(.minutes(10))) struct DebianPackageTests {
    /// EX_UNAVAILABLE.
    private static let unavailable: Int32 = 69

    @Test func `The packages are installed in a scratch root and purged`() async throws {
        let root = TestEnvironment.packageRoot
        let arguments = [
            root.appending(path: "scripts/deb-check.sh").path, root.appending(path: ".build/debug").path,
        ]
        do {
            let output = try await run("/bin/bash", arguments, within: .seconds(540))
            let summary = try #require(output.firstMatch(of: /(\d+) files, (\d+) checks passed/), "\(output)")
            #expect(try #require(Int(summary.1)) >= 15 && #require(Int(summary.2)) >= 50)
            // Four services, the hub and its emulator; 10 is the worst.
            let exposures = output.matches(of: /exposure ([0-9.]+)/).compactMap { Double($0.1) }
            #expect(exposures.count == 6 && exposures.allSatisfy { $0 < 2.5 })
            print(summary.0)
        } catch let error as ProgramFailed where error.exitCode == Self.unavailable {
            let isCI = ProcessInfo.processInfo.environment["CI"] != nil
            try #require(!isCI, "\(error)")
            print("SKIPPED: the Debian packages were not checked. \(error.output)")
        }
    }
}
