import Domain
package import Foundations
package import Logging
import ServiceConfiguration

/// The hubs of a `HUB_POOL_FILE`: one hub per line, its name and its connection string, with blanks between them. Empty
/// lines and lines that begin with `#` are ignored, and so is a byte order mark before the first line.
///
/// It is a class, so that versions of the file are compared by identity.
package final class HubPoolConfiguration: Sendable {
    /// In the order of the file, with different names.
    package let hubs: [NotificationHubConfiguration]

    /// The maximum number of hubs.
    package static let maxHubs = 64
    /// The maximum size of the file in bytes, and of one line.
    static let maxBytes = 256 << 10
    static let maxLineBytes = 4096
    /// The maximum number of mistakes that one error lists.
    private static let maxProblems = 20

    /// Reads the text of the file.
    ///
    /// - Parameters:
    ///   - insecureHost: see ``NotificationHubConfiguration/init(connectionString:hubName:insecureHost:)``.
    ///   - prepare: completes each hub.
    /// - Throws: an error that names each wrong line by its number, and shows nothing of it.
    package init(
        _ text: String, insecureHost: String? = nil, prepare: (inout NotificationHubConfiguration) -> Void = { _ in }
    ) throws(SetupError) {
        guard text.utf8.count <= Self.maxBytes else {
            throw .init(.pool, "The file is larger than \(Self.maxBytes >> 10) KiB: name another file.")
        }
        var hubs: [NotificationHubConfiguration] = []
        var lines: [String: Int] = [:]
        var problems: [String] = []
        for (index, line) in OutsideText.lines(OutsideText.withoutMark(text)).enumerated() {
            do throws(SetupError) {
                guard var hub = try Self.hub(line, insecureHost: insecureHost) else { continue }
                if let earlier = lines.updateValue(index + 1, forKey: HubSelection.folded(hub.hubName)) {
                    throw .init(.pool, "names the hub of line \(earlier) again: each hub needs a name of its own.")
                }
                prepare(&hub)
                hubs.append(hub)
            } catch {
                problems.append("Line \(index + 1): \(error.message)")
            }
        }
        if hubs.count > Self.maxHubs { problems.append("The file has more than \(Self.maxHubs) hubs.") }
        if hubs.isEmpty, problems.isEmpty { problems.append("The file names no hub.") }
        if problems.count > Self.maxProblems {
            problems = problems.prefix(Self.maxProblems) + ["\(problems.count - Self.maxProblems) more."]
        }
        guard problems.isEmpty else { throw .init(.pool, problems.joined(separator: " ")) }
        self.hubs = hubs
    }

    /// - Returns: `nil` for a line without a hub.
    private static func hub(
        _ line: String, insecureHost: String?
    ) throws(SetupError) -> NotificationHubConfiguration? {
        // An invisible character is no blank: it would be a part of the name, which has none.
        let scalars = OutsideText.trimmedEnd(line).unicodeScalars.drop { $0.properties.isWhitespace }
        if scalars.isEmpty || scalars.first == "#" { return nil }
        guard Substring(scalars).utf8.count <= maxLineBytes else {
            throw .init(.pool, "is longer than \(maxLineBytes) bytes.")
        }
        let name = scalars.prefix { !$0.properties.isWhitespace }
        let connectionString = OutsideText.trimmed(Substring(scalars[name.endIndex...]))
        // A name of a hub has no "=".
        if name.contains("=") {
            throw .init(.pool, "has no name: write the hub's name, a blank, and its connection string.")
        }
        guard !connectionString.isEmpty else {
            throw .init(.pool, "has no connection string: write the hub's name, a blank, and its connection string.")
        }
        return try NotificationHubConfiguration(
            connectionString: connectionString, hubName: String(name), insecureHost: insecureHost)
    }
}

/// The file of the hubs (`HUB_POOL_FILE`), which is read again when it changes. While a changed file cannot be used,
/// the last hubs stay in use.
package final class HubPoolFile: Sendable {
    private let file: ReloadingFile<HubPoolConfiguration>

    /// - Parameter logger: gets an error for each version of the file that cannot be used.
    /// - Throws: ``FileError`` if the file is missing, unreadable or malformed.
    package init(_ settings: HubPoolSettings, logger: Logger) throws(FileError) {
        file = try ReloadingFile(
            path: settings.path, logger: logger,
            message: "The changed file of hubs cannot be used; the last hubs stay in use"
        ) { try settings.read($0) }
    }

    /// The hubs. The file is checked for a change at most once per second.
    package var current: HubPoolConfiguration { file.current }

    /// For readiness, metrics and SIGHUP.
    package var source: ReloadableSource { file.source(ConfigurationKeys.hubPoolFile.name) }
}
