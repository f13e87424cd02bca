import Domain
import Foundations
import ServiceConfiguration

extension CreateNotificationRequest {
    /// Reads a body.
    ///
    /// - Parameters:
    ///   - available: the platforms that a request may name (`HUB_PLATFORMS`).
    ///   - retention: the lifetime of a payload without `ExpiresAt` (`RETENTION`).
    ///   - requiresEncryption: whether the payload must be an envelope (`RECIPIENT_E2E_REQUIRED`).
    /// - Throws: ``CreateNotificationRefusal``, which names every invalid member (see ``MemberIssues``).
    init(
        body: UnsafeBufferPointer<UInt8>, available: [Platform], retention: Duration,
        requiresEncryption: Bool = false, now: Timestamp
    ) throws(CreateNotificationRefusal) {
        var json: JSONObjectReader
        do {
            json = try JSONObjectReader(body)
        } catch {
            throw .malformed(error)
        }
        var payload: JSONSpan?
        let request = json.object { json in
            var request = CreateNotificationRequest()
            request.readRecipients(&json)
            payload = json.required("Payload", .payload(mustBeEncrypted: requiresEncryption))
            request.presentation = json.optional("Presentation", .choice) ?? .silent
            request.alert = json.optional("Alert", .alert)
            request.platforms = json.optional("Platforms", .platforms(available))
            request.expiresAt = json.optional("ExpiresAt", .time(after: now))
            request.notBefore = json.optional("NotBefore", .time(after: now))
            request.checkNotBefore(end: now + retention, &json)
            request.collapseKey = json.optional("CollapseKey", .collapseKey)
            request.priority = json.optional("Priority", .choice)
            request.remind = json.optional("Remind", .reminders) ?? []
            request.display = json.optional("Display", .choice) ?? .full
            request.readQuestion(&json)
            return request
        }
        if let payload {
            guard payload.contentLength <= Limit.maxPayloadBytes else {
                throw .payloadTooLarge(bytes: payload.contentLength)
            }
            // Without the quotation marks of a string; escapes count as written.
            let bytes = payload.range.count - (payload.kind == .string ? 2 : 0)
            let volume = bytes * (request?.recipients.count ?? 0)
            guard volume <= Limit.maxVolumeBytes else { throw .volumeTooLarge(bytes: volume) }
        }
        guard json.memberIssues.isEmpty, let request, let payload else { throw .invalid(json.memberIssues) }
        self = request
        self.payload = json.bytes(of: payload)
    }

    private mutating func readRecipients(_ json: inout JSONObjectReader) {
        isForMany = json.contains("Recipients")
        if isForMany {
            let counts = 1...Limit.maxRecipients
            recipients =
                json.required(
                    "Recipients", .list(of: .userName, counts) { "There must be 1 to 1,000 recipients, not \($0)." })
                ?? []
        }
        if isForMany, !json.contains("Recipient") { return }
        if let name = json.required("Recipient", .userName) { recipients = [name] }
        guard isForMany else { return }
        for name: StaticString in ["Recipient", "Recipients"] {
            json.note("Give either Recipient or Recipients, not both.", at: name)
        }
    }

    /// - Parameter end: of the payload if `ExpiresAt` is not given.
    private func checkNotBefore(end: Timestamp, _ json: inout JSONObjectReader) {
        guard let notBefore else { return }
        if let expiresAt {
            if notBefore >= expiresAt { json.note("The time must be before ExpiresAt.", at: "NotBefore") }
        } else if notBefore >= end, !json.issues.contains(where: { $0.pointer == "/ExpiresAt" }) {
            json.note("The payload would expire before NotBefore; set ExpiresAt to a later time.", at: "NotBefore")
        }
    }
}

// MARK: - Rules

extension JSONRule<JSONSpan> {
    /// Any value. The bytes of one that is too large are not looked at.
    fileprivate static func payload(mustBeEncrypted: Bool) -> JSONRule {
        JSONRule { json in
            if mustBeEncrypted, json.value.contentLength <= CreateNotificationRequest.Limit.maxPayloadBytes,
                let issue = EncryptedPayload.issue(in: json.bytes(of: json.value))
            {
                json.note(issue)
            }
            return json.value
        }
    }
}

extension JSONRule<AlertText> {
    fileprivate static var alert: JSONRule {
        .object { json in
            let text = JSONRule<String>.text(
                0...CreateNotificationRequest.Limit.maxAlertTextBytes,
                "The text must be at most 1,024 bytes of UTF-8 without control characters.")
            let alert = AlertText(title: json.optional("Title", text), body: json.optional("Body", text))
            let bytes = alert.applePayloadBytes
            if bytes > AlertText.maxApplePayloadBytes {
                json.note("The alert may have at most 4,096 bytes in the JSON sent to Apple, not \(bytes).")
            }
            return alert == AlertText() ? nil : alert
        }
    }
}

extension JSONRule<String> {
    fileprivate static var collapseKey: JSONRule {
        .text(
            1...CreateNotificationRequest.Limit.maxCollapseKeyBytes,
            "The key must be 1 to 64 bytes of UTF-8 without control characters.")
    }

    fileprivate static func text(_ length: ClosedRange<Int>, _ requirement: String) -> JSONRule {
        .string(requirement) { length.contains($0.utf8.count) && !$0.hasControlCharacters ? $0 : nil }
    }
}

extension JSONRule<[Platform]> {
    /// Each platform once, by either of its names.
    fileprivate static func platforms(_ available: [Platform]) -> JSONRule {
        let platform = JSONRule<Platform>.string(
            "The platform must be one of: \(available.map(\.rawValue).joined(separator: ", "))."
        ) { text in
            available.first { $0 == Platform(eitherName: text) }
        }
        return JSONRule { json in
            var platforms: [Platform] = []
            guard let count = json.count() else { return nil }
            if count == 0 { json.note("List at least one platform, or omit the member to send to all.") }
            json.elements { json in
                if let platform = json.read(platform), !platforms.contains(platform) { platforms.append(platform) }
            }
            return platforms
        }
    }
}

extension JSONRule<[Duration]> {
    fileprivate static var reminders: JSONRule {
        let delay = JSONRule<Duration>.string(
            "The time must be a number and s, m, h or d, from 30s to 365d, for example 5m."
        ) { text in
            Duration(configurationText: text).flatMap { FollowUpPolicy.reminderDelay.contains($0) ? $0 : nil }
        }
        return .list(of: delay, FollowUpPolicy.reminderCount) { "There must be 1 to 5 reminders, not \($0)." }
    }
}

extension JSONRule<Timestamp> {
    fileprivate static func time(after now: Timestamp) -> JSONRule {
        JSONRule { json in
            guard let time = json.read(.time) else { return nil }
            guard time > now else {
                json.note("The time must be in the future.")
                return nil
            }
            return time
        }
    }
}

extension String {
    /// Whether it contains a control character: C0, DEL or C1.
    fileprivate var hasControlCharacters: Bool {
        unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }
}
