public import SecurePushCore

extension ConfigurationReader {
    /// Reads `HUB_PLATFORMS`: platforms for which there is a native form, at least one, each named once.
    ///
    /// - Returns: `nil` if it cannot be used; the reader holds the issue.
    public mutating func readPlatforms() -> [Platform]? {
        guard let platforms = read(ConfigurationKeys.hubPlatforms) else { return nil }
        let unknown = platforms.filter { !Platform.known.contains($0) }
        guard unknown.isEmpty else {
            let known = Platform.known.map(\.rawValue).joined(separator: ", ")
            let names = unknown.map(\.rawValue).joined(separator: ", ")
            note(ConfigurationKeys.hubPlatforms.name, "names \(names): a native form exists for \(known)")
            return nil
        }
        let repeated = Platform.known.filter { known in platforms.count { $0 == known } > 1 }
        guard repeated.isEmpty else {
            let names = repeated.map(\.rawValue).joined(separator: ", ")
            note(ConfigurationKeys.hubPlatforms.name, "names \(names) more than once: name each platform once")
            return nil
        }
        return platforms
    }
}
