import ArgumentParser
import Authentication
import Foundation
import Foundations
import SecurePushEnvelope

/// How `securepush send --e2e` checks the keys of recipients, and signs.
struct EncryptionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Remember the keys of each recipient in this file, and refuse new and changed ones. Needs --e2e.",
            valueName: "file"), completion: .file(), transform: filePath)
    var pin: String?

    @Flag(help: "Accept new and changed keys, and remember them. Compare their fingerprints first. Needs --pin.")
    var acceptNewKeys = false

    @Option(
        help: ArgumentHelp(
            "Sign with this key (PKCS#8 PEM, P-256; `securepush keys generate` makes one). Needs --e2e.",
            valueName: "file"), completion: .file(), transform: filePath)
    var signWith: String?

    func validate(isEncrypted: Bool) throws {
        if !isEncrypted && (pin != nil || signWith != nil) {
            throw ValidationError("--pin and --sign-with need --e2e.")
        }
        if acceptNewKeys && pin == nil { throw ValidationError("--accept-new-keys needs --pin FILE.") }
    }

    /// The sender's key; `nil` without `--sign-with`.
    func senderKey() throws -> SenderKey? {
        guard let signWith else { return nil }
        let text = try SecretFile.read(signWith, of: "--sign-with")
        do {
            return try SenderKey(pem: text)
        } catch {
            throw CommandFailure(
                .configuration, "--sign-with: \(signWith) is not a private key of P-256 as PKCS#8 PEM.",
                hint: "`securepush keys generate --sender` makes one.")
        }
    }

    /// Compares the keys of all recipients with the file, and remembers those that are accepted.
    ///
    /// - Returns: a text about the accepted keys.
    /// - Throws: ``CommandFailure`` with code `failed` and all fingerprints if a key is new or changed. Nothing is
    ///   remembered then.
    func check(_ targets: [SendCommand.EncryptionTarget]) throws -> [String] {
        guard let pin else { return [] }
        return try CommandFailure.naming("--pin") {
            try PrivateFile.edit(pin) { text in
                var pins = RecipientPins()
                if let text {
                    do { pins = try RecipientPins(json: Data(text.utf8)) } catch {
                        throw CommandFailure(.configuration, "--pin: \(pin) is not a file of pins.")
                    }
                }
                var lines: [String] = []
                for target in targets {
                    let name = target.recipient.printable
                    let changes = pins.changes(target.keys, of: target.recipient)
                    lines += changes.map { Self.line(name, $0) }
                    pins.accept(target.keys, of: target.recipient)
                }
                guard lines.isEmpty || acceptNewKeys else {
                    throw CommandFailure(
                        .failed, "Keys are new or changed. Nothing was sent.", details: lines,
                        hint: "Compare each fingerprint with the one that the user's app shows, then add "
                            + "--accept-new-keys.")
                }
                return (String(decoding: pins.json, as: UTF8.self), lines)
            }
        }
    }

    private static func line(_ recipient: String, _ change: RecipientPins.Change) -> String {
        let former = change.former.map { "was \($0), is now" } ?? "is new:"
        return "\(recipient): the key of \(change.device.printable) \(former) \(change.current)"
    }
}
