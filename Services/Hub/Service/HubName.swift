import Foundations

/// The names that hubs can have.
enum HubName {
    /// The service's own paths: no hub can have such a name, in any case.
    static let reserved: Set<String> = [
        "$resources", "livez", "readyz", "metrics", "version", "openapi.json", "emulator", "favicon.ico",
    ]
    private static let maxBytes = 260
    private static let bytes = ByteSet.alphanumerics.union(ByteSet("-._"))

    /// Why a text is no name of a hub, without the text; `nil` if it is one.
    static func problem(with text: some StringProtocol) -> String? {
        if reserved.contains(text.lowercased()) {
            return "the name of the hub is reserved: it is a path of the service"
        }
        guard (1...maxBytes).contains(text.utf8.count), bytes.containsAll(text),
            text.utf8.contains(where: ByteSet.alphanumerics.contains)
        else { return "the name of the hub is not 1 to \(maxBytes) letters, digits, -, . and _" }
        return nil
    }
}
