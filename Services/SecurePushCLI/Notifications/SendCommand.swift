import ArgumentParser
import Domain
import Foundation
import Foundations
import ServiceConfiguration

struct SendCommand: SenderCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a secret to users and print the IDs of the notifications.",
        discussion: """
            The ingest service seals the payload. Only its ID passes through the broker, the hub and the push \
            networks. With --e2e this command encrypts the payload for the keys of each recipient's devices before it \
            sends it, so that the services cannot read it either. Devices that register later cannot read it. With \
            --pin it remembers the keys of each recipient and refuses new and changed ones (exit code 1), with their \
            fingerprints, which the app shows too; with --sign-with the devices know that it comes from you.

            A file of recipients has one name per line; empty lines and lines that begin with # are ignored. A name \
            that is given twice gets one notification. More than 1,000 recipients are sent to in several requests. \
            With --idempotency-key the same command can be repeated after a failure, for 24 hours: nobody gets the \
            notification twice.

            With --title, --link or --answers the text is sent as a message: an object with the text as Body. The \
            answers become its buttons. A --challenge is never sent to the device: the user reads it where you show it.

            With --wait the command ends when every notification is dispatched, read or answered. It fails (exit code \
            1) if one cannot become so any more, or after --wait-timeout. With --wait answered it prints each answer, \
            after the ID if there are several. Exit code 0 means that every answer is the first of --answers, 2 that \
            one is another.

            EXAMPLES
              securepush send --to alice --payload "Your results are in."
              securepush send --to alice --to bob --payload - < message.txt
              securepush send --to alice --payload '{"Amount":12.50}' --json-payload \\
                  --expires-in 1h
              securepush send --to alice --payload hello --presentation alert \\
                  --alert-title "Your bank"
              securepush send --to alice --payload hello --remind 1m --remind 5m
              securepush send --to alice --payload "Good morning." --not-before 8h
              securepush send --to-file customers.txt --payload hello \\
                  --idempotency-key news-2026-11
              securepush send --to alice --payload "Your results are in." --e2e \\
                  --pin pins.json --sign-with sender-key.pem
              securepush send --to alice --payload hello --wait dispatched
              securepush send --to alice --title "Deploy?" --payload "Version 2.1" \\
                  --answers approve,deny --challenge 42 --wait answered
            """)

    @Option(
        name: [.customLong("to"), .customLong("recipient")],
        help: ArgumentHelp("A recipient. Repeat it for more.", valueName: "name"))
    var to: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file of recipients, one per line, 1,000,000 at most. - reads standard input.", valueName: "file"),
        completion: .file(), transform: filePath)
    var toFile: String?

    @Option(
        help: ArgumentHelp("The secret. - reads standard input without its last line end.", valueName: "text"))
    var payload: String

    @Flag(help: "The payload is a JSON value, sent exactly as written.")
    var jsonPayload = false

    @Flag(
        name: .customLong("e2e"),
        help: "Encrypt the payload end to end, for the devices that the recipient has now. An alert is not encrypted.")
    var isEncrypted = false

    @OptionGroup(title: "End-to-end encryption") var encryption: EncryptionOptions

    @Option(help: "Wake the app in the background (silent), or show a generic alert first (alert).")
    var presentation: Presentation?

    @Option(help: ArgumentHelp("The title of the alert. Must not be secret.", valueName: "text"))
    var alertTitle: String?

    @Option(help: ArgumentHelp("The text of the alert. Must not be secret.", valueName: "text"))
    var alertBody: String?

    @OptionGroup(title: "Message") var message: MessageOptions

    @Option(
        help: ArgumentHelp("apple, fcmv1, windows, ... Repeat it for more (default: all).", valueName: "name"),
        completion: .platforms)
    var platform: [String] = []

    @Option(help: ArgumentHelp("Expiry time (RFC 3339). The payload cannot be read afterwards.", valueName: "time"))
    var expiresAt: TimeArgument?

    @Option(help: ArgumentHelp("Expiry as a duration from now: 90s, 15m, 2h, 7d.", valueName: "duration"))
    var expiresIn: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Push, and let it be read, no earlier: a time (RFC 3339), or a duration from now.", valueName: "time"))
    var notBefore: FutureArgument?

    @Option(
        help: ArgumentHelp(
            "A repeated command with this key sends nothing again: up to 247 visible ASCII characters.",
            valueName: "key"))
    var idempotencyKey: String?

    @Option(help: ArgumentHelp("A later push with the same key replaces this one on the device.", valueName: "key"))
    var collapseKey: String?

    @Option(help: "Priority on Android devices.")
    var priority: Priority?

    @Option(
        help: ArgumentHelp(
            "Push again if it is not read after this time: 30s, 5m. Repeat it for up to five reminders, each counted "
                + "from the last push.", valueName: "duration"))
    var remind: [DurationArgument] = []

    @OptionGroup var waiting: SendWait
    @OptionGroup var sender: SenderOptions

    func validate() throws {
        if to.isEmpty && toFile == nil {
            throw ValidationError("Give at least one recipient with --to NAME or --to-file FILE.")
        }
        for name in to { try UserName.validate(name, of: "--to", as: "recipient") }
        if toFile == "-" && payload == "-" {
            throw ValidationError("--to-file and --payload cannot both be standard input.")
        }
        try validateIdempotencyKey()
        try encryption.validate(isEncrypted: isEncrypted)
        if expiresAt != nil && expiresIn != nil {
            throw ValidationError("Give either --expires-at or --expires-in, not both.")
        }
        if (alertTitle != nil || alertBody != nil) && presentation != .alert {
            throw ValidationError("--alert-title and --alert-body need --presentation alert.")
        }
        try message.validate(isJSON: jsonPayload)
        try waiting.validate(asks: message.answers != nil)
        if remind.count > FollowUpPolicy.reminderCount.upperBound {
            throw ValidationError("Give --remind at most five times.")
        }
        if !remind.allSatisfy({ FollowUpPolicy.reminderDelay.contains($0.duration) }) {
            throw ValidationError("--remind must be between 30s and 365d.")
        }
    }

    /// The service refuses the same key with another body (422), so times must not depend on the time of the command.
    private func validateIdempotencyKey() throws {
        guard let idempotencyKey else { return }
        let isVisible = idempotencyKey.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        // Several requests get numbers, up to the number of recipients.
        let isAlone = toFile == nil && to.count == 1
        let most = isAlone ? 255 : 247
        guard isVisible, (1...most).contains(idempotencyKey.utf8.count) else {
            throw ValidationError(
                "--idempotency-key must have 1 to \(most) visible ASCII characters"
                    + (isAlone ? "." : ": with several recipients, several requests add their numbers."))
        }
        if isEncrypted {
            throw ValidationError("--idempotency-key cannot be used with --e2e: each encryption is different.")
        }
        if expiresIn != nil {
            throw ValidationError(
                "--idempotency-key needs --expires-at instead of --expires-in, which ends later each time.")
        }
        if let notBefore, notBefore.time == nil {
            throw ValidationError("--idempotency-key needs a time for --not-before: a duration ends later each time.")
        }
    }

    func run(on console: Console) async throws {
        let recipients = try recipients()
        try waiting.check(recipients.names.count)
        let text = payload == "-" ? try StandardInput.readAll().droppingLineEnd : payload
        if recipients.duplicates > 0 {
            let count = recipients.duplicates
            let words = count == 1 ? "1 repeated recipient was" : "\(count.grouped) repeated recipients were"
            console.message("\(words) left out")
        }
        let ids =
            isEncrypted
            ? try await sendEncrypted(to: recipients.names, payload: text, on: console)
            : try await send(to: recipients, payload: text, on: console)
        if waiting.wait == .answered, let wanted = message.options.first {
            return try await waiting.answers(ids, wanted: wanted, try ingest.client(), on: console)
        }
        try await waiting.run(ids, try ingest.client(), on: console)
    }

    /// Those of `--to`, then those of the file.
    private func recipients() throws -> RecipientList {
        var recipients = RecipientList(to)
        guard let toFile else { return recipients }
        if toFile == "-" {
            try recipients.add(
                linesOf: try StandardInput.readAll(upTo: RecipientList.maxBytes), from: "--to-file (standard input)")
        } else {
            let text = try CommandFailure.naming("--to-file") {
                try FileContent(path: toFile, maxBytes: RecipientList.maxBytes).text
            }
            try recipients.add(linesOf: text, from: toFile.printable)
        }
        if recipients.names.isEmpty { throw CommandFailure(.usage, "--to-file: there is no name in the file.") }
        return recipients
    }

    func notification(payload text: String, now: Timestamp) throws -> NotificationBody {
        if jsonPayload && JSONValue(text: text) == nil {
            throw CommandFailure(
                .usage, "--json-payload: the payload is not JSON.", hint: "Without --json-payload it is sent as text.")
        }
        let payload =
            jsonPayload ? text : message.makesMessage ? try message.message(text) : try JSONCoding.encode(text)
        return NotificationBody(
            recipients: to, payloadJSON: payload, presentation: presentation, title: alertTitle, body: alertBody,
            platforms: platform, notBefore: notBefore?.time(now),
            expiresAt: expiresAt?.time ?? expiresIn.map { now + $0.duration },
            collapseKey: collapseKey, priority: priority, remind: remind.map(\.duration),
            display: message.display, answers: message.options, challenge: message.challenge)
    }
}

/// The response for one recipient, or for several.
enum SendResponse {
    private struct One: Decodable {
        var id: String
    }
    private struct Many: Decodable {
        var notifications: [One]
    }

    static func ids(_ body: String) throws -> [String] {
        if let many = try? JSONCoding.decode(Many.self, from: body) { return many.notifications.map(\.id) }
        if let one = try? JSONCoding.decode(One.self, from: body) { return [one.id] }
        throw CommandFailure(.failed, "ingest accepted the notification, but its response has no ID.")
    }
}

/// The body of `POST /api/notifications`, written as text so that a JSON payload is sent unchanged, numbers too.
struct NotificationBody: Sendable, Equatable {
    var recipients: [String]
    /// One JSON value.
    var payloadJSON: String
    var presentation: Presentation?
    var title: String?
    var body: String?
    var platforms: [String] = []
    var notBefore: Timestamp?
    var expiresAt: Timestamp?
    var collapseKey: String?
    var priority: Priority?
    var remind: [Duration] = []
    var display: Display?
    var answers: [String] = []
    var challenge: String?

    var json: String {
        var writer = JSONWriter()
        writer.object { writer in
            if recipients.count == 1 {
                writer.member("Recipient", recipients[0])
            } else {
                writer.member("Recipients", recipients)
            }
            writer.member("Payload", json: payloadJSON.utf8)
            if let presentation { writer.member("Presentation", presentation.rawValue) }
            if title != nil || body != nil {
                writer.object("Alert") { writer in
                    if let title { writer.member("Title", title) }
                    if let body { writer.member("Body", body) }
                }
            }
            if !platforms.isEmpty { writer.member("Platforms", platforms) }
            if let notBefore { writer.member("NotBefore", notBefore.description) }
            if let expiresAt { writer.member("ExpiresAt", expiresAt.description) }
            if let collapseKey { writer.member("CollapseKey", collapseKey) }
            if let priority { writer.member("Priority", priority.rawValue) }
            if !remind.isEmpty { writer.member("Remind", remind.map(\.configurationText)) }
            if let display { writer.member("Display", display.rawValue) }
            if !answers.isEmpty { writer.member("Answers", answers) }
            if let challenge { writer.member("Challenge", challenge) }
        }
        return writer.text
    }
}
