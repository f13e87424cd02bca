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

    /// Gives the elements of an array one by one, and notes any other value.
    ///
    /// - Returns: how many there were; `nil` for another value.
    @discardableResult
    private mutating func forEachElement(
        of value: JSONSpan, _ pointer: String,
        _ body: (_ reader: inout RequestReader, _ index: Int, _ element: JSONSpan) -> Void
    ) -> Int? {
        guard value.kind == .array else {
            note(pointer, "The value must be an array, not \(value.kind.phrase).")
            return nil
        }
        var scanner = JSONScanner(bytes, range: value.range)
        var count = 0
        // Checked already: it cannot fail again.
        try? scanner.elements { element in
            body(&self, count, element)
            count += 1
        }
        return count
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
        // They are counted first, so that none of too many is read.
        guard let count = forEachElement(of: value, pointer, { _, _, _ in }) else { return }
        request.isForMany = true
        guard (1...CreateNotificationRequest.Limit.recipients).contains(count) else {
            note(pointer, "There must be 1 to 1,000 recipients, not \(count).")
            return
        }
        forEachElement(of: value, pointer) { reader, index, element in
            if let name = reader.userName(element, "\(pointer)/\(index)") { reader.request.recipients.append(name) }
        }
    }

    private mutating func readPayload(_ value: JSONSpan) {
        if value.contentLength > CreateNotificationRequest.Limit.payloadBytes {
            oversizedPayload = value.contentLength
        } else {
            request.payload = JSONScanner(bytes).bytes(of: value)
            payloadBytes = value.range.count - (value.kind == .string ? 2 : 0)
        }
    }

    private mutating func readAlert(_ value: JSONSpan) {
        let pointer = Member.alert.pointer
        guard value.kind == .object else {
            note(pointer, "The value must be an object, not \(value.kind.phrase).")
            return
        }
        var alert = AlertText()
        var seen: Set<String> = []
        forEachMember(of: value) { reader, name, value in
            guard let known = ["Title", "Body"].first(where: { $0.equalsIgnoringASCIICase(name) }) else {
                return reader.note("\(pointer)/\(name.escapedForJSONPointer)", "There is no such member.")
            }
            guard seen.insert(known).inserted else {
                return reader.note("\(pointer)/\(known)", "The member is repeated.")
            }
            if value.kind == .null { return }
            let text = reader.alertText(value, "\(pointer)/\(known)")
            if known == "Title" { alert.title = text } else { alert.body = text }
        }
        let bytes = alert.applePayloadBytes
        if bytes > AlertText.maxApplePayloadBytes {
            note(pointer, "The alert may take at most 4,096 bytes in the form that Apple gets, not \(bytes).")
        }
        if alert != AlertText() { request.alert = alert }
    }

    private mutating func alertText(_ value: JSONSpan, _ pointer: String) -> String? {
        guard let text = string(value, pointer) else { return nil }
        guard text.utf8.count <= CreateNotificationRequest.Limit.alertTextBytes, !text.hasControlCharacters else {
            note(pointer, "The text must be at most 1,024 bytes of UTF-8 without control characters.")
            return nil
        }
        return text
    }

    private mutating func readPlatforms(_ value: JSONSpan) {
        let pointer = Member.platforms.pointer
        var platforms: [Platform] = []
        let count = forEachElement(of: value, pointer) { reader, index, element in
            guard let text = reader.string(element, "\(pointer)/\(index)") else { return }
            guard let platform = reader.available.first(where: { $0.rawValue == text }) else {
                let names = reader.available.map(\.rawValue).joined(separator: ", ")
                return reader.note("\(pointer)/\(index)", "The platform is not one of those served here: \(names).")
            }
            if !platforms.contains(platform) { platforms.append(platform) }
        }
        guard let count else { return }
        if count == 0 { note(pointer, "There must be a platform; leave the member out for all.") }
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
        let length = 1...CreateNotificationRequest.Limit.collapseKeyBytes
        guard length.contains(text.utf8.count), !text.hasControlCharacters else {
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

extension String {
    /// Whether it holds a control character: C0, DEL or C1.
    fileprivate var hasControlCharacters: Bool {
        unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }
}
