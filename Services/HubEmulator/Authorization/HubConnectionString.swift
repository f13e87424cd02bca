import Crypto
import Foundation

/// `Endpoint=…;SharedAccessKeyName=…;SharedAccessKey=…`, as the hub's portal page shows it.
struct HubConnectionString: Equatable, Sendable {
    /// With a trailing slash: clients that append the hub's name to it need one.
    let endpoint: String
    let keyName: String
    let key: String

    init(endpoint: String, keyName: String, key: String) {
        self.endpoint = endpoint.hasSuffix("/") ? endpoint : endpoint + "/"
        self.keyName = keyName
        self.key = key
    }

    /// Reads a connection string; names in any case and order. Nil when a part is missing, repeated or unknown.
    init?(_ text: String) {
        var parts: [String: String] = [:]
        for part in text.split(separator: ";") {
            guard let equals = part.firstIndex(of: "=") else { return nil }
            let name = part[..<equals].trimmingCharacters(in: .whitespaces).lowercased()
            let value = part[part.index(after: equals)...].trimmingCharacters(in: .whitespaces)
            guard !value.isEmpty, parts.updateValue(value, forKey: name) == nil else { return nil }
        }
        guard let endpoint = parts.removeValue(forKey: "endpoint"), endpoint.contains("://"),
            let keyName = parts.removeValue(forKey: "sharedaccesskeyname"),
            let key = parts.removeValue(forKey: "sharedaccesskey"), parts.isEmpty
        else { return nil }
        self.init(endpoint: endpoint, keyName: keyName, key: key)
    }

    /// The form that clients take.
    var text: String { "Endpoint=\(endpoint);SharedAccessKeyName=\(keyName);SharedAccessKey=\(key)" }

    /// A fresh random key: base64 of 32 bytes, as the service makes them.
    static func makeKey() -> String {
        SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64EncodedString() }
    }

    /// The Listen rule's key when none is configured: derived, so that a fixed connection string fixes it too.
    var derivedListenKey: String {
        let key = SymmetricKey(data: Array(key.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Array(SharedAccessRule.defaultListenName.utf8), using: key)
        return Data(code).base64EncodedString()
    }
}
