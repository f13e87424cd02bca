import Foundation
import SecurePushCore

/// One file of test vectors.
struct VectorFile: Sendable {
    let name: String
    /// The lists of the file, by their names.
    let lists: [(name: String, cases: [VectorCase])]

    /// All files.
    static func all() throws -> [VectorFile] {
        [
            VectorFile(name: "pushes.json", lists: [("cases", try PushVectors.cases())]),
            VectorFile(name: "signatures.json", lists: [("cases", try SignatureVectors.cases())]),
            VectorFile(name: "tags.json", lists: [("cases", TagVectors.cases())]),
            VectorFile(name: "e2e.json", lists: [("cases", try EnvelopeVectors.cases())]),
            VectorFile(name: "fetch-plans.json", lists: [("cases", try FetchPlanVectors.cases())]),
            VectorFile(name: "withdrawals.json", lists: [("cases", try WithdrawalVectors.cases())]),
            VectorFile(
                name: "hostile.json",
                lists: [("pushes", HostileVectors.pushes()), ("answers", try HostileVectors.answers())]),
        ]
    }

    var count: Int { lists.reduce(0) { $0 + $1.cases.count } }

    /// The content: one case on each line, so that a change shows in a diff.
    var text: String {
        let lists = lists.map { list in
            "\"\(list.name)\": [\n" + list.cases.map(\.json.value.json).joined(separator: ",\n") + "\n]"
        }
        return "{\"format\": 1, \(lists.joined(separator: ", "))}\n"
    }

    /// Whether a folder has this content.
    func isCurrent(in folder: String) throws -> Bool {
        let stored = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
        return stored == Data(text.utf8)
    }
}

/// One case, whose JSON begins with its name.
struct VectorCase: Sendable {
    let json: JSONLiteral

    init(_ name: String, _ members: JSONLiteral) {
        json = JSONLiteral(.object([JSONValue.Member("name", .string(name))] + (members.value.members ?? [])))
    }
}

/// JSON as a literal of Swift. Members keep their order.
struct JSONLiteral: Sendable {
    let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    /// A string, or null.
    init(_ text: String?) { value = text.map(JSONValue.string) ?? .null }

    /// A whole number, or null.
    init(_ number: Int?) { value = number.map { .number(String($0)) } ?? .null }

    init(_ elements: [JSONLiteral]) { value = .array(elements.map(\.value)) }

    init(_ texts: [String]) { value = .array(texts.map(JSONValue.string)) }

    init(_ flag: Bool) { value = .boolean(flag) }

    /// An object.
    init(_ members: [(String, String)]) {
        value = .object(members.map { JSONValue.Member($0.0, .string($0.1)) })
    }
}

extension JSONLiteral: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral text: String) { value = .string(text) }
    init(integerLiteral number: Int) { value = .number(String(number)) }
    init(booleanLiteral flag: Bool) { value = .boolean(flag) }
    init(nilLiteral: ()) { value = .null }
    init(arrayLiteral elements: JSONLiteral...) { value = .array(elements.map(\.value)) }
    init(dictionaryLiteral members: (String, JSONLiteral)...) {
        value = .object(members.map { JSONValue.Member($0.0, $0.1.value) })
    }
}
