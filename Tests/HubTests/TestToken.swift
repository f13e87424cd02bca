import Crypto
import Foundation
import Foundations
import Testing

@testable import Hub

/// Shared access signatures, made byte for byte as each known client makes them.
struct TestToken: Sendable, CustomTestStringConvertible {
    let client: String
    /// The case of the hexadecimal digits in `sr` and in `sig`.
    var upperResource = false
    var upperSignature = true
    /// What stands unescaped besides letters, digits and `-_.`.
    var unescaped = ""
    var plusForBlank = false
    var escapesName = true
    var order = ["sr", "sig", "se", "skn"]
    /// What the client signs when it calls `url`.
    var resource: @Sendable (_ url: String) -> String = { $0 }
    /// What it leaves raw in `sig` besides.
    var unescapedInSignature: String?

    var testDescription: String { client }

    /// A plain good token for the whole namespace.
    static func make(
        rule: String = SharedAccessRule.defaultFullName, key: String = testKey,
        resource: String = "http://127.0.0.1/", expiresIn seconds: Int64 = 300
    ) -> String {
        TestToken(client: "plain").make(url: resource, rule: rule, key: key, expiry: Timestamp.now.seconds + seconds)
    }

    func make(url: String, rule: String, key: String, expiry: Int64) -> String {
        let signed = escape(resource(url).lowercased(), upper: upperResource, plus: plusForBlank, unescaped)
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(signed)\n\(expiry)".utf8), using: SymmetricKey(data: Data(key.utf8)))
        let signature = Data(code).base64EncodedString()
        let fields = [
            "sr": signed, "se": "\(expiry)",
            "sig": escape(signature, upper: upperSignature, plus: false, unescapedInSignature ?? unescaped),
            "skn": escapesName ? escape(rule, upper: upperResource, plus: plusForBlank, unescaped) : rule,
        ]
        return "SharedAccessSignature " + order.map { "\($0)=\(fields[$0] ?? "")" }.joined(separator: "&")
    }

    private func escape(_ text: String, upper: Bool, plus: Bool, _ unescaped: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            let isPlain = byte < 0x80 && (scalar.properties.isAlphabetic || "0123456789-_.".contains(Character(scalar)))
            if isPlain || unescaped.utf8.contains(byte) {
                result.unicodeScalars.append(scalar)
            } else if plus, byte == UInt8(ascii: " ") {
                result += "+"
            } else {
                let hex = String(byte, radix: 16, uppercase: upper)
                result += "%" + (hex.utf8.count == 1 ? "0" : "") + hex
            }
        }
        return result
    }
}
