import NIOCore

@testable import HubEmulator
@testable import NotificationHubs

/// The readers of bytes that come from outside.
enum FuzzTarget: String, CaseIterable {
    /// Tag expressions.
    case tags
    /// The Authorization header.
    case authorization
    /// Atom entries.
    case atom
    /// JSON patches of installations, and the installations.
    case patch
    /// Bodies of batches.
    case multipart
    /// HTTP requests on a connection, past the routes.
    case request
    /// Templates.
    case template
    /// Times, queries, filters, audiences.
    case texts
    /// The hub's HTTP answers, as the dispatcher reads them.
    case answer

    func run(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        switch self {
        case .tags: Self.tags(text)
        case .authorization: Self.authorization(text)
        case .atom: Self.atom(bytes)
        case .patch: Self.patch(bytes)
        case .multipart: Self.multipart(bytes)
        case .request: FuzzConnection.run(bytes)
        case .template: Self.template(text)
        case .texts: Self.texts(text, bytes)
        case .answer: Self.answer(bytes)
        }
    }

    private static func tags(_ text: String) {
        guard let expression = try? TagExpression.parse(text) else { return }
        let tags = expression.tags
        precondition((1...20).contains(tags.count))
        precondition(tags.allSatisfy { TagSyntax.isTag($0) })
        // The index and the tree must mean the same devices.
        if let alternatives = expression.alternatives {
            precondition(expression.matches([alternatives[0]]) && !expression.matches([]))
        }
    }

    private static let authorizer = HubAuthorizer(
        rules: [SharedAccessRule(name: "R", primaryKey: "k", secondaryKey: "l", rights: .full)], endpointHost: "h")

    /// Nobody guesses a signature.
    private static func authorization(_ text: String) {
        let isLetIn =
            (try? authorizer.authorize(text, authority: "h:1", path: "/hub/messages", right: .send)) != nil
        precondition(!isLetIn)
    }

    /// What is read and written again is read as the same.
    private static func atom(_ bytes: [UInt8]) {
        guard let root = try? XMLReader.read(bytes) else { return }
        var written = ""
        XMLWriter.write(root, parentNamespace: "", to: &written)
        precondition(!written.isEmpty)
        let again = try? XMLReader.read(Array(written.utf8))
        precondition(again != nil)
        _ = try? Registration(id: "1", entry: bytes, receivedAt: .now)
        _ = try? HubDescription(entry: bytes)
    }

    private static let installation = try? HubInstallation(
        id: "i",
        document: Array(
            #"{"platform":"apns","pushChannel":"AB","tags":["a"],"templates":{"t":{"body":"{}","tags":["b"]}}}"#.utf8))

    private static func patch(_ bytes: [UInt8]) {
        if let patch = try? InstallationPatch(bytes), let patched = installation.flatMap({ try? patch.applied(to: $0) })
        {
            precondition(patched.id == "i")
        }
        _ = try? HubInstallation(id: "i", document: bytes)
    }

    private static func multipart(_ bytes: [UInt8]) {
        let types = ["multipart/mixed; boundary=B", String(decoding: bytes.prefix(80), as: UTF8.self)]
        for type in types {
            guard let parts = try? MultipartReader.parts(of: bytes, contentType: type) else { continue }
            precondition(parts.reduce(0) { $0 + $1.body.count } <= bytes.count)
            for part in parts { _ = part.name }
        }
    }

    private static let properties = try? TemplateProperties(message: Array(#"{"b":"é\"<&","n":"40"}"#.utf8))

    private static func template(_ text: String) {
        guard let properties else { return }
        for format in [NotificationFormat.apple, .windows] {
            let registration = Registration(
                id: "1", version: 1, format: format, isTemplate: true, tags: [], lowercasedTags: [], handle: "h",
                fields: [XMLElement("BodyTemplate", namespace: XMLNamespace.connect, text: text)],
                updatedAt: .now)
            _ = TemplateRenderer(registration, properties).body
        }
        _ = try? TemplateProperties(message: Array(text.utf8))
    }

    private static func texts(_ text: String, _ bytes: [UInt8]) {
        if let time = ScheduleTime.read(text) { _ = time.rfc3339 }
        _ = HubMessageID.sequence(of: text)
        _ = HubQuery(text)["direct"]
        _ = TokenAudience(resource: text)
        _ = PercentDecoding.decodeRepeatedly(text)
        _ = try? RegistrationFilter(text)
        _ = HubConnectionString(text)
        _ = PackedHeaders(packed: bytes)?.joined
        _ = HeaderParameters.value(of: "boundary", in: text)
    }

    /// The first byte says where the network cuts the others in two: the answers are the same.
    private static func answer(_ bytes: [UInt8]) {
        guard let cut = bytes.first.map(Int.init) else { return }
        let rest = bytes.dropFirst()
        let whole = answers(in: [rest])
        let halves = answers(in: [rest.prefix(cut), rest.dropFirst(cut)])
        precondition(whole == halves)
    }

    private static func answers(in pieces: [ArraySlice<UInt8>]) -> [String] {
        var parser = HubAnswerParser()
        var answers: [String] = []
        do {
            for piece in pieces {
                var bytes = ByteBuffer(bytes: piece)
                while let answer = try parser.consume(bytes) {
                    answers.append("\(answer.status)")
                    bytes = ByteBuffer()
                    guard parser.hasLeftover else { break }
                }
            }
        } catch { answers.append("broken") }
        if let last = parser.finish() { answers.append("\(last.status)") }
        return answers
    }
}
