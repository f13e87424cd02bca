/// The parts of a connection string as copied from the hub's portal page:
/// `Endpoint=sb://NS.servicebus.windows.net/;SharedAccessKeyName=RULE;SharedAccessKey=KEY`.
///
/// Split on `;`, then on the first `=`, because keys end in `=`. Part names have no case and any order, as in the .NET
/// client, and like there a part that is unknown or there twice is an error: it is a slip of the hand that would
/// otherwise show as a 401 much later.
struct HubConnectionString: Sendable {
    var endpoint: HubEndpoint
    var keyName: String
    var key: String
    /// Never in what the portal shows for a hub; some tools add it.
    var entityPath: String?

    init(_ text: String, insecureHost: String? = nil) throws(NotificationHubConfigurationError) {
        let parts = try Self.parts(text)
        endpoint = try HubEndpoint(try Self.require(.endpoint, in: parts), insecureHost: insecureHost)
        keyName = try Self.require(.sharedAccessKeyName, in: parts)
        key = try Self.require(.sharedAccessKey, in: parts)
        entityPath = parts[.entityPath]
    }

    private enum Part: String, CaseIterable {
        case endpoint = "Endpoint"
        case sharedAccessKeyName = "SharedAccessKeyName"
        case sharedAccessKey = "SharedAccessKey"
        case entityPath = "EntityPath"
    }

    private static func parts(_ text: String) throws(NotificationHubConfigurationError) -> [Part: String] {
        var parts: [Part: String] = [:]
        for piece in text.split(separator: ";") {
            let piece = piece.trimmingBlanks
            if piece.isEmpty { continue }
            guard let equals = piece.firstIndex(of: "=") else {
                throw .init(.malformed, "A part of the connection string has no \"=\": copy it again, whole.")
            }
            let name = piece[..<equals].trimmingBlanks.lowercased()
            guard let part = Part.allCases.first(where: { $0.rawValue.lowercased() == name }) else {
                // The name is not shown: in a mangled string it may be a piece of the key.
                let names = Part.allCases.map(\.rawValue).joined(separator: ", ")
                throw .init(.unknownPart, "The connection string has an unknown part; it may have only \(names).")
            }
            guard parts[part] == nil else {
                throw .init(.duplicatePart, "The connection string has \(part.rawValue) twice: remove one.")
            }
            parts[part] = String(piece[piece.index(after: equals)...].trimmingBlanks)
        }
        return parts
    }

    private static func require(
        _ part: Part, in parts: [Part: String]
    ) throws(NotificationHubConfigurationError) -> String {
        guard let value = parts[part], !value.isEmpty else {
            throw .init(
                .missingPart,
                "The connection string has no \(part.rawValue): copy it from the hub's page \"Access Policies\".")
        }
        return value
    }
}

extension Substring {
    /// Without blanks, tabs and line ends around it.
    fileprivate var trimmingBlanks: Substring {
        var text = self
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return text
    }
}
