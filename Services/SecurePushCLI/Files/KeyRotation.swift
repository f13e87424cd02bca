import SecurePushCore

/// A change of a key ring file's text: a new key first, old ones dropped. Comments and blank lines stay.
struct KeyRotation: Sendable, Equatable {
    /// The line of the key that seals from now on; `nil` for none.
    var newLine: String?
    /// The IDs of keys to drop.
    var dropped: Set<String> = []

    /// The IDs that `--keep` and `--remove` ask to drop, in the order of the file.
    ///
    /// - Parameter keep: how many keys remain, the new one counted.
    /// - Throws: ``CommandFailure`` for an ID that is not there, and for a key that cannot be dropped: the one that
    ///   seals, or has sealed until now, for services may do so until they have read the file again.
    static func dropping(
        from ids: [String], keep: Int?, remove: [String], addsKey: Bool
    ) throws -> [String] {
        for id in remove where !ids.contains(id) {
            throw CommandFailure(.failed, "The key ring has no key \(id.printable).")
        }
        let kept = keep.map { max(1, addsKey ? $0 - 1 : $0) } ?? ids.count
        let dropped = ids.enumerated().filter { $0.offset >= kept || remove.contains($0.element) }.map(\.element)
        if let sealing = ids.first, dropped.contains(sealing) {
            throw CommandFailure(
                .failed, "The key \(sealing) \(addsKey ? "has sealed until now" : "seals") and cannot be dropped.",
                hint: "Rotate first; drop it when no payload needs it any more.")
        }
        return dropped
    }

    func apply(to text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        lines.removeAll { line in KeyRotation.id(of: line).map(dropped.contains) ?? false }
        if let newLine {
            let first = lines.firstIndex { KeyRotation.id(of: $0) != nil } ?? lines.count
            lines.insert(newLine, at: first)
        }
        let changed = lines.joined(separator: "\n")
        return changed.hasSuffix("\n") ? changed : changed + "\n"
    }

    /// The ID of a line with a key; `nil` for a comment or a blank line.
    private static func id(of line: String) -> String? {
        let field = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }.first
        return field.flatMap { $0.hasPrefix("#") ? nil : String($0) }
    }
}
