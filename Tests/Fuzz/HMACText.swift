import Crypto
import Foundation

/// Signs as clients do.
enum HMACText {
    static func base64(of text: String, key: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(text.utf8), using: SymmetricKey(data: Data(key.utf8)))
        return Data(code).base64EncodedString()
    }
}
