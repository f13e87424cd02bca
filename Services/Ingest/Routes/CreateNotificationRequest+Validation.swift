import SecurePushCore

extension RequestReader {
    /// Reads one member, noting what is wrong with it. `null` stands for an absent optional member.
    mutating func read(_ member: Member, _ value: JSONSpan) {
        if value.kind == .null, member != .payload, member != .recipient, member != .recipients { return }
        switch member {
        case .recipient: if let name = userName(value, member.pointer) { request.recipients = [name] }
        case .recipients: readRecipients(value)
        case .payload: readPayload(value)
        case .presentation: request.presentation = choice(value, member) ?? .silent
        case .alert: readAlert(value)
        case .platforms: readPlatforms(value)
        case .expiresAt: request.expiresAt = futureTime(value, member)
        case .notBefore: request.notBefore = futureTime(value, member)
        case .collapseKey: readCollapseKey(value)
        case .priority: request.priority = choice(value, member)
        }
    }

    private mutating func string(_ value: JSONSpan, _ pointer: String) -> String? {
        guard value.kind == .string else {
            note(pointer, "The value must be a string, not \(value.kind.phrase).")
            return nil
        }
        return JSONScanner(bytes).text(of: value)
    }

    private mutating func array(_ value: JSONSpan, _ pointer: String) -> [JSONSpan]? {
        guard value.kind == .array else {
            note(pointer, "The value must be an array, not \(value.kind.phrase).")
            return nil
        }
        var scanner = JSONScanner(bytes, range: value.range)
        var elements: [JSONSpan] = []
        // Checked already: it cannot fail again.
        try? scanner.elements { elements.append($0) }
        return elements
    }

    private mutating func userName(_ value: JSONSpan, _ pointer: String) -> UserName? {
        guard let text = string(value, pointer) else { return nil }
        guard let name = UserName(text) else {
            note(pointer, "A recipient is 1 to 1,024 bytes of UTF-8 without control characters.")
            return nil
        }
        return name
    }

    private mutating func readRecipients(_ value: JSONSpan) {
        let pointer = Member.recipients.pointer
        guard let elements = array(value, pointer) else { return }
        request.isForMany = true
        guard (1...CreateNotificationRequest.Limit.recipients).contains(elements.count) else {
            note(pointer, "There must be 1 to 1,000 recipients, not \(elements.count).")
            return
        }
        for (index, element) in elements.enumerated() {
            if let name = userName(element, "\(pointer)/\(index)") { request.recipients.append(name) }
        }
    }

    private mutating func readPayload(_ value: JSONSpan) {
        if value.contentLength > CreateNotificationRequest.Limit.payloadBytes {
            oversizedPayload = value.contentLength
        } else {
            request.payload = JSONScanner(bytes).bytes(of: value)
        }
    }

    private mutating func readAlert(_ value: JSONSpan) {
        let pointer = Member.alert.pointer
        guard value.kind == .object, let members = try? members(of: value) else {
            note(pointer, "The value must be an object, not \(value.kind.phrase).")
            return
        }
        var alert = AlertText()
        var seen: Set<String> = []
        for (name, value) in members {
            let name = JSONScanner(bytes).text(of: name)
            guard let known = ["Title", "Body"].first(where: { $0.equalsIgnoringASCIICase(name) }) else {
                note("\(pointer)/\(name.escapedForJSONPointer)", "There is no such member.")
                continue
            }
            guard seen.insert(known).inserted else {
                note("\(pointer)/\(known)", "The member is repeated.")
                continue
            }
            if value.kind == .null { continue }
            let text = alertText(value, "\(pointer)/\(known)")
            if known == "Title" { alert.title = text } else { alert.body = text }
        }
        if alert != AlertText() { request.alert = alert }
    }

    private mutating func alertText(_ value: JSONSpan, _ pointer: String) -> String? {
        guard let text = string(value, pointer) else { return nil }
        // 4 KiB is what a vendor's network takes in all, and a NUL is what PostgreSQL does not store.
        guard text.utf8.count <= CreateNotificationRequest.Limit.alertTextBytes, !text.utf8.contains(0) else {
            note(pointer, "The text must be at most 1,024 bytes of UTF-8 without NUL.")
            return nil
        }
        return text
    }

    private mutating func readPlatforms(_ value: JSONSpan) {
        let pointer = Member.platforms.pointer
        guard let elements = array(value, pointer) else { return }
        if elements.isEmpty { note(pointer, "There must be a platform; leave the member out for all.") }
        var platforms: [Platform] = []
        for (index, element) in elements.enumerated() {
            guard let text = string(element, "\(pointer)/\(index)") else { continue }
            guard let platform = available.first(where: { $0.rawValue == text }) else {
                let names = available.map(\.rawValue).joined(separator: ", ")
                note("\(pointer)/\(index)", "The platform is not one of those served here: \(names).")
                continue
            }
            if !platforms.contains(platform) { platforms.append(platform) }
        }
        request.platforms = platforms
    }

    private mutating func futureTime(_ value: JSONSpan, _ member: Member) -> Timestamp? {
        guard let text = string(value, member.pointer) else { return nil }
        guard let time = Timestamp(rfc3339: text) else {
            note(member.pointer, "The time must be written as RFC 3339 says, such as 2026-11-21T08:30:00Z.")
            return nil
        }
        guard time > now else {
            note(member.pointer, "The time is past.")
            return nil
        }
        return time
    }

    private mutating func readCollapseKey(_ value: JSONSpan) {
        let pointer = Member.collapseKey.pointer
        guard let text = string(value, pointer) else { return }
        let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
        guard (1...CreateNotificationRequest.Limit.collapseKeyBytes).contains(text.utf8.count), isPlain else {
            note(pointer, "The key must be 1 to 64 bytes of UTF-8 without control characters.")
            return
        }
        request.collapseKey = text
    }

    private mutating func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ value: JSONSpan, _ member: Member
    ) -> Value? {
        guard let text = string(value, member.pointer) else { return nil }
        guard let choice = Value(rawValue: text) else {
            let choices = Value.allCases.map(\.rawValue).joined(separator: ", ")
            note(member.pointer, "The value must be one of: \(choices).")
            return nil
        }
        return choice
    }
}
