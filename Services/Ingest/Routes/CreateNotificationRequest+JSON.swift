import SecurePushCore

extension CreateNotificationRequest {
    /// Reads a body.
    ///
    /// - Parameters:
    ///   - body: JSON text; names are matched without regard to case, unknown and repeated members are refused.
    ///   - available: the platforms that may be asked for (`HUB_PLATFORMS`).
    ///   - retention: the lifetime of a payload whose sender sets none (`RETENTION`).
    /// - Throws: ``CreateNotificationRefusal``, which names every offending member.
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
    var issues: [ValidationIssue] = []
    var oversizedPayload: Int?
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
        let text = JSONScanner(bytes)
        for (name, value) in try members(of: document) {
            let name = text.text(of: name)
            guard let member = Member(name) else {
                note("/" + name.escapedForJSONPointer, "There is no such member.")
                continue
            }
            guard seen.insert(member).inserted else {
                note(member.pointer, "The member is repeated.")
                continue
            }
            read(member, value)
        }
        checkWhole()
    }

    /// The members of an object that has been checked already.
    func members(of span: JSONSpan) throws(JSONSyntaxError) -> [(name: JSONSpan, value: JSONSpan)] {
        var scanner = JSONScanner(bytes, range: span.range)
        var members: [(name: JSONSpan, value: JSONSpan)] = []
        try scanner.members { (name, value) throws(JSONSyntaxError) in members.append((name, value)) }
        return members
    }

    mutating func note(_ pointer: String, _ detail: String) {
        issues.append(ValidationIssue(pointer: pointer, detail: detail))
    }

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
        } else if notBefore >= now + retention, !issues.contains(where: { $0.pointer == Member.expiresAt.pointer }) {
            // It would expire before it is sent.
            note(Member.notBefore.pointer, "The payload is not kept so long; give an ExpiresAt after NotBefore.")
        }
    }
}
