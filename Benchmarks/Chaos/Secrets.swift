import Crypto
import Foundation
import SecurePushCore

/// The keys of a run, in files of its folder.
struct Secrets: Sendable {
    let apiKey = "spk_" + UUID().uuidString
    /// What every payload of the run holds and nothing else does.
    let marker = "canary" + UUID().uuidString.replacing("-", with: "")
    let hubKey = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
    private let tokenSecret = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })

    /// The sender under which the run's notifications stand in the store.
    static let sender = "chaos"

    func write(to folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let hash = SHA256.hash(data: Data(apiKey.utf8)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        try write("payload-keys", PayloadKeyRing.newLine(), folder)
        try write("api-keys", "\(Self.sender) \(hash.joined())", folder)
        try write("jwks.json", #"{"keys":[{"kty":"oct","alg":"HS256","k":"\#(Self.base64URL(tokenSecret))"}]}"#, folder)
    }

    /// A user's token, HS256 (RFC 7515), for a day.
    func token(of user: String) -> String {
        let claims = #"{"sub":"\#(user)","exp":\#(Timestamp.now.seconds + 86_400)}"#
        let signed =
            Self.base64URL(Data(#"{"alg":"HS256"}"#.utf8)) + "." + Self.base64URL(Data(claims.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: tokenSecret))
        return signed + "." + Self.base64URL(Data(code))
    }

    /// The payload of a number, and the number of a payload.
    func payload(_ number: Int) -> String { "\(marker):\(number)" }

    func number(of payload: String) -> Int? {
        guard payload.hasPrefix(marker + ":") else { return nil }
        return Int(payload.dropFirst(marker.count + 1))
    }

    private func write(_ name: String, _ text: String, _ folder: URL) throws {
        let url = folder.appending(path: name)
        try Data((text + "\n").utf8).write(to: url)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
