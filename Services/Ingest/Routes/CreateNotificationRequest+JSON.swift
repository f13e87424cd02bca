import SecurePushCore

extension CreateNotificationRequest {
    /// Reads a body.
    ///
    /// - Parameters:
    ///   - body: JSON text; names are matched without regard to case, unknown and repeated members are refused.
    ///   - available: the platforms that may be asked for (`HUB_PLATFORMS`).
    ///   - retention: the lifetime of a payload whose sender sets none (`RETENTION`).
    /// - Throws: ``CreateNotificationRefusal``, which names every offending member (see ``MemberIssues``).
    init(
        body: UnsafeBufferPointer<UInt8>, available: [Platform], retention: Duration, now: Timestamp
    ) throws(CreateNotificationRefusal) {
        var reader = RequestReader(bytes: body, available: available, retention: retention, now: now)
        do {
            try reader.readDocument()
        } catch {
            throw .malformed(error)
        }
        if let bytes = reader.oversizedPayload { throw .payloadTooLarge(bytes: bytes) }
        let volume = reader.payloadBytes * reader.request.recipients.count
        if volume > Limit.maxVolumeBytes { throw .volumeTooLarge(bytes: volume) }
        guard reader.issues.isEmpty else { throw .invalid(reader.issues) }
        self = reader.request
    }
}

/// Reads the members of a request one by one and notes what is wrong with each.
struct RequestReader {
    let bytes: UnsafeBufferPointer<UInt8>
    let available: [Platform]
    let retention: Duration
    let now: Timestamp
    var request = CreateNotificationRequest()
    var issues = MemberIssues()
    var oversizedPayload: Int?
    /// The bytes of the payload, without the quotation marks of a string; escapes count as they are written.
    var payloadBytes = 0
    private var seen: Set<Member> = []

    /// The members, in the contract's spelling.
    enum Member: String, CaseIterable {
        case recipient = "Recipient"
        case recipients = "Recipients"
        case payload = "Payload"
        case presentation = "Presentation"
        case alert = "Alert"
        case platforms = "Platforms"
        case expiresAt = "ExpiresAt"
        case notBefore = "NotBefore"
        case collapseKey = "CollapseKey"
        case priority = "Priority"

        /// Finds a member by its name in any case (ASCII).
        init?(_ name: String) {
            guard let found = Member.allCases.first(where: { $0.rawValue.equalsIgnoringASCIICase(name) }) else {
                return nil
            }
            self = found
        }

        var pointer: String { "/" + rawValue }
    }

    init(bytes: UnsafeBufferPointer<UInt8>, available: [Platform], retention: Duration, now: Timestamp) {
        self.bytes = bytes
        self.available = available
        self.retention = retention
        self.now = now
    }

    mutating func readDocument() throws(JSONSyntaxError) {
        var scanner = JSONScanner(bytes)
        let document = try scanner.document()
        guard document.kind == .object else {
            note("", "The body must be an object, not \(document.kind.phrase).")
            return
        }
        forEachMember(of: document) { reader, name, value in
            guard let member = Member(name) else {
                return reader.note("/" + name.escapedForJSONPointer, "There is no such member.")
            }
            guard reader.seen.insert(member).inserted else {
                return reader.note(member.pointer, "The member is repeated.")
            }
            reader.read(member, value)
        }
        checkWhole()
    }

    /// Gives the members of an object that has been checked already one by one: a list of them all would take forty
    /// times the room of the text.
    mutating func forEachMember(
        of span: JSONSpan, _ body: (_ reader: inout RequestReader, _ name: String, _ value: JSONSpan) -> Void
    ) {
        var scanner = JSONScanner(bytes, range: span.range)
        // Checked already: it cannot fail again.
        try? scanner.members { (name, value) throws(JSONSyntaxError) in
            body(&self, JSONScanner(bytes).text(of: name), value)
        }
    }

    mutating func note(_ pointer: String, _ detail: String) { issues.note(pointer, detail) }

    func has(_ member: Member) -> Bool { seen.contains(member) }

    /// What concerns more than one member.
    private mutating func checkWhole() {
        if has(.recipient), has(.recipients) {
            for member in [Member.recipient, .recipients] {
                note(member.pointer, "Recipient and Recipients exclude each other.")
            }
        } else if !has(.recipient), !has(.recipients) {
            note(Member.recipient.pointer, "The member is required.")
        }
        if !has(.payload) { note(Member.payload.pointer, "The member is required.") }
        checkTimes()
    }

    private mutating func checkTimes() {
        guard let notBefore = request.notBefore else { return }
        if let expiresAt = request.expiresAt {
            if notBefore >= expiresAt { note(Member.notBefore.pointer, "The time must be before ExpiresAt.") }
        } else if notBefore >= now + retention,
            !issues.entries.contains(where: { $0.pointer == Member.expiresAt.pointer })
        {
            // It would expire before it is sent.
            note(Member.notBefore.pointer, "The payload is not kept so long; give an ExpiresAt after NotBefore.")
        }
    }
}
