import CBuildInformation

/// The version of this program and of the compiler that built it.
package enum SecurePushVersion {
    /// Semantic version of all that this repository makes. `VersionTests` compares the other places that name it.
    package static let current = "0.2.0-alpha.1"

    /// The git commit that was built, with `-dirty` if files differed from it; `unknown` if the build was not told
    /// (`SECUREPUSH_REVISION`).
    package static let revision = String(cString: securepush_revision())

    /// The Swift release that compiled this program, major and minor number.
    package static let swift: String = {
        #if compiler(>=6.5)
        "6.5 or newer"
        #elseif compiler(>=6.4)
        "6.4"
        #elseif compiler(>=6.3)
        "6.3"
        #else
        "6.2"
        #endif
    }()

    /// One line for `--version`: `ingest 0.2.0 (revision 1a2b3c4d5e6f, Swift 6.3)`.
    package static func line(of program: String) -> String {
        "\(program) \(current) (revision \(shortRevision), Swift \(swift))"
    }

    /// The first twelve digits of the commit, and the mark of a dirty tree.
    private static var shortRevision: String {
        let parts = revision.split(separator: "-", maxSplits: 1)
        guard let commit = parts.first, commit.count == 40 else { return revision }
        return commit.prefix(12) + (parts.count > 1 ? "-\(parts[1])" : "")
    }
}
