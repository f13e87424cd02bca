import Crypto
import Foundation

/// Makes the tokens that the hub takes: `SharedAccessSignature sr=SR&sig=SIG&se=EXP&skn=NAME`.
///
/// The signed text is the percent-encoded, lower-cased resource, a line feed, and the expiry in Unix seconds; the key
/// is the UTF-8 of its text, not what its Base64 stands for (Azure: "Notification Hubs REST API, common concepts").
struct SharedAccessSignature: Sendable {
    private let encodedResource: String
    private let encodedKeyName: String
    private let key: SymmetricKey

    /// - Parameter resource: the URL of the request or a prefix of it that ends where a path segment does.
    init(resource: String, keyName: String, key: String) {
        encodedResource = PercentEncoding.encode(resource.lowercased())
        encodedKeyName = PercentEncoding.encode(keyName)
        self.key = SymmetricKey(data: Data(key.utf8))
    }

    /// The value of an `Authorization` header that is good until a time in Unix seconds.
    func token(expiresAt expiry: Int64) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data("\(encodedResource)\n\(expiry)".utf8), using: key)
        let signature = PercentEncoding.encode(Data(code).base64EncodedString())
        return "SharedAccessSignature sr=\(encodedResource)&sig=\(signature)&se=\(expiry)&skn=\(encodedKeyName)"
    }
}
