import SecurePushCore
import ServiceConfiguration

extension CreateNotificationRequest {
    /// Reads a body.
    ///
    /// - Parameters:
    ///   - body: JSON text; names are matched case-insensitively, unknown and repeated members are refused.
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
        var reading = RequestReading(
            available: available, retention: retention, requiresEncryption: requiresEncryption, now: now)
        reading.read(&json)
        if let bytes = reading.oversizedPayload { throw .payloadTooLarge(bytes: bytes) }
        let volume = reading.payloadBytes * reading.request.recipients.count
        if volume > Limit.maxVolumeBytes { throw .volumeTooLarge(bytes: volume) }
        guard json.memberIssues.isEmpty else { throw .invalid(json.memberIssues) }
        self = reading.request
    }
}

/// Reads the members of a request one by one. What is wrong with them is noted in the JSON reader.
private struct RequestReading {
    let available: [Platform]
    let retention: Duration
    let requiresEncryption: Bool
    let now: Timestamp
    var request = CreateNotificationRequest()
    var oversizedPayload: Int?
    /// The bytes of the payload, without the quotation marks of a string; escapes count as written.
    var payloadBytes = 0

    /// In the contract's spelling.
    private static let members = [
        "Recipient", "Recipients", "Payload", "Presentation", "Alert", "Platforms", "ExpiresAt", "NotBefore",
        "CollapseKey", "Priority", "Remind",
    ]

    init(available: [Platform], retention: Duration, requiresEncryption: Bool, now: Timestamp) {
        self.available = available
        self.retention = retention
        self.requiresEncryption = requiresEncryption
        self.now = now
    }

    mutating func read(_ json: inout JSONObjectReader) {
        guard var members = json.object(json.root, known: Self.members) else { return }
        while let member = json.next(&members) { read(member, &json) }
        if !members.contains("Recipients") {
            json.require(["Recipient"], in: members)
        } else if members.contains("Recipient") {
            for pointer in ["/Recipient", "/Recipients"] {
                json.note(pointer, "Give either Recipient or Recipients, not both.")
            }
        }
        json.require(["Payload"], in: members)
        checkTimes(&json)
    }

    private mutating func read(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) {
        switch member.name {
        case "Recipient":
            if let name = userName(member.value, at: member.pointer, &json) { request.recipients = [name] }
        case "Recipients": readRecipients(member, &json)
        case "Payload": readPayload(member, &json)
        // `null` stands for an absent optional member.
        case _ where member.value.kind == .null: break
        case "Presentation": request.presentation = json.choice(member.value, at: member.pointer) ?? .silent
        case "Alert": readAlert(member, &json)
        case "Platforms": readPlatforms(member, &json)
        case "ExpiresAt": request.expiresAt = futureTime(member, &json)
        case "NotBefore": request.notBefore = futureTime(member, &json)
        case "CollapseKey": readCollapseKey(member, &json)
        case "Remind": readRemind(member, &json)
        default: request.priority = json.choice(member.value, at: member.pointer)
        }
    }

    private func userName(_ value: JSONSpan, at pointer: String, _ json: inout JSONObjectReader) -> UserName? {
        guard let text = json.string(value, at: pointer) else { return nil }
        guard let name = UserName(text) else {
            json.note(pointer, "A recipient is 1 to 1,024 bytes of UTF-8 without control characters.")
            return nil
        }
        return name
    }

    private mutating func readRecipients(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) {
        let pointer = member.pointer
        guard let elements = json.array(member.value, at: pointer) else { return }
        request.isForMany = true
        // Counted first, so that none is read if there are too many.
        let count = elements.reduce(0) { count, _ in count + 1 }
        guard (1...CreateNotificationRequest.Limit.maxRecipients).contains(count) else {
            json.note(pointer, "There must be 1 to 1,000 recipients, not \(count).")
            return
        }
        for (index, element) in elements.enumerated() {
            if let name = userName(element, at: "\(pointer)/\(index)", &json) { request.recipients.append(name) }
        }
    }

    private mutating func readPayload(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) {
        let value = member.value
        if value.contentLength > CreateNotificationRequest.Limit.maxPayloadBytes {
            oversizedPayload = value.contentLength
        } else {
            request.payload = json.bytes(of: value)
            payloadBytes = value.range.count - (value.kind == .string ? 2 : 0)
            if requiresEncryption, let issue = EncryptedPayload.issue(in: request.payload) {
                json.note(member.pointer, issue)
            }
        }
    }

    private mutating func readAlert(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) {
        guard var parts = json.object(member.value, at: member.pointer, known: ["Title", "Body"]) else { return }
        var alert = AlertText()
        while let part = json.next(&parts) {
            if part.value.kind == .null { continue }
            let text = alertText(part, &json)
            if part.name == "Title" { alert.title = text } else { alert.body = text }
        }
        let bytes = alert.applePayloadBytes
        if bytes > AlertText.maxApplePayloadBytes {
            json.note(
                member.pointer, "The alert may have at most 4,096 bytes in the JSON sent to Apple, not \(bytes).")
        }
        if alert != AlertText() { request.alert = alert }
    }

    private func alertText(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) -> String? {
        guard let text = json.string(member.value, at: member.pointer) else { return nil }
        guard text.utf8.count <= CreateNotificationRequest.Limit.maxAlertTextBytes, !text.hasControlCharacters else {
            json.note(member.pointer, "The text must be at most 1,024 bytes of UTF-8 without control characters.")
            return nil
        }
        return text
    }

    private mutating func readPlatforms(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) {
        guard let elements = json.array(member.value, at: member.pointer) else { return }
        var platforms: [Platform] = []
        for (index, element) in elements.enumerated() {
            let pointer = "\(member.pointer)/\(index)"
            guard let text = json.string(element, at: pointer) else { continue }
            guard let platform = available.first(where: { $0.rawValue == text }) else {
                let names = available.map(\.rawValue).joined(separator: ", ")
                json.note(pointer, "The platform must be one of: \(names).")
                continue
            }
            if !platforms.contains(platform) { platforms.append(platform) }
        }
        if elements.isEmpty {
            json.note(member.pointer, "List at least one platform, or omit the member to send to all.")
        }
        request.platforms = platforms
    }

    private mutating func readCollapseKey(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) {
        guard let text = json.string(member.value, at: member.pointer) else { return }
        let length = 1...CreateNotificationRequest.Limit.maxCollapseKeyBytes
        guard length.contains(text.utf8.count), !text.hasControlCharacters else {
            json.note(member.pointer, "The key must be 1 to 64 bytes of UTF-8 without control characters.")
            return
        }
        request.collapseKey = text
    }

    private mutating func readRemind(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) {
        guard let elements = json.array(member.value, at: member.pointer) else { return }
        // Counted first, so that none is read if there are too many.
        let count = elements.reduce(0) { count, _ in count + 1 }
        guard FollowUpPolicy.reminderCount.contains(count) else {
            json.note(member.pointer, "There must be 1 to 5 reminders, not \(count).")
            return
        }
        for (index, element) in elements.enumerated() {
            let pointer = "\(member.pointer)/\(index)"
            guard let text = json.string(element, at: pointer) else { continue }
            guard let delay = Duration(configurationText: text), FollowUpPolicy.reminderDelay.contains(delay) else {
                json.note(pointer, "The time must be a number and s, m, h or d, from 30s to 365d, for example 5m.")
                continue
            }
            request.remind.append(delay)
        }
    }

    private func futureTime(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) -> Timestamp? {
        guard let text = json.string(member.value, at: member.pointer) else { return nil }
        guard let time = Timestamp(rfc3339: text) else {
            json.note(member.pointer, "The time must be in RFC 3339 format, for example 2026-11-21T08:30:00Z.")
            return nil
        }
        guard time > now else {
            json.note(member.pointer, "The time must be in the future.")
            return nil
        }
        return time
    }

    private func checkTimes(_ json: inout JSONObjectReader) {
        guard let notBefore = request.notBefore else { return }
        if let expiresAt = request.expiresAt {
            if notBefore >= expiresAt { json.note("/NotBefore", "The time must be before ExpiresAt.") }
        } else if notBefore >= now + retention, !json.issues.contains(where: { $0.pointer == "/ExpiresAt" }) {
            json.note("/NotBefore", "The payload would expire before NotBefore; set ExpiresAt to a later time.")
        }
    }
}

extension String {
    /// Whether it contains a control character: C0, DEL or C1.
    fileprivate var hasControlCharacters: Bool {
        unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }
}
