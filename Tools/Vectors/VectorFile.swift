import Foundation
import Foundations

/// One file of test vectors.
struct VectorFile: Sendable {
    let name: String
    /// The lists of the file, by their names.
    let lists: [(name: String, cases: [VectorCase])]

    /// The files with scenarios.
    static let scenarioNames = ["fetch-plans.json", "withdrawals.json", "hostile.json"]

    /// The files that are made here, with the signatures of the folder. The scenarios of `hostile.json` are those of the
    /// folder. `Clients/vectors/reference` makes `signatures.json` and `e2e.json`.
    static func all(_ folder: String) throws -> [VectorFile] {
        let signatures = try VectorSignatures(try VectorFile("signatures.json", in: folder))
        let stored = try VectorFile("hostile.json", in: folder)
        return [
            VectorFile(name: "pushes.json", lists: [("cases", try PushVectors.cases(signatures))]),
            VectorFile(name: "tags.json", lists: [("cases", TagVectors.cases())]),
            VectorFile(
                name: "hostile.json",
                lists: [("pushes", HostileVectors.pushes())] + stored.lists.filter { $0.name == "answers" }),
        ]
    }

    init(name: String, lists: [(name: String, cases: [VectorCase])]) { (self.name, self.lists) = (name, lists) }

    /// A file of the folder.
    init(_ name: String, in folder: String) throws {
        let json = try JSONValue([UInt8](Data(contentsOf: URL(filePath: "\(folder)/\(name)"))))
        let lists = (json.members ?? []).compactMap { member in member.value.elements.map { (member.name, $0) } }
        self.init(name: name, lists: lists.map { ($0, $1.map { VectorCase(json: JSONLiteral($0)) }) })
    }

    /// The same scenarios with other expectations.
    ///
    /// - Parameter observations: an object with an array for each case, as `ScenarioVectorTests` writes it.
    func recording(_ observations: Data) throws -> VectorFile {
        let seen = try JSONValue([UInt8](observations))
        return VectorFile(
            name: name,
            lists: lists.map { list in
                (list.name, list.cases.map { $0.recording(seen[$0.name]?.elements ?? []) })
            })
    }

    var count: Int { lists.reduce(0) { $0 + $1.cases.count } }

    /// The content: one case on each line, so that a change shows in a diff.
    var text: String {
        let lists = lists.map { list in
            "\"\(list.name)\": [\n" + list.cases.map(\.json.value.json).joined(separator: ",\n") + "\n]"
        }
        return "{\"format\": 1, \(lists.joined(separator: ", "))}\n"
    }

    func write(to folder: String) throws {
        try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
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

    init(json: JSONLiteral) { self.json = json }

    init(_ name: String, _ members: JSONLiteral) {
        json = JSONLiteral(.object([JSONValue.Member("name", .string(name))] + (members.value.members ?? [])))
    }

    var name: String { json.value["name"]?.text ?? "" }

    /// The same case, in which the wakes expect what was seen.
    func recording(_ observations: [JSONValue]) -> VectorCase {
        guard let wakes = json.value["wakes"]?.elements, wakes.count == observations.count else { return self }
        let recorded = zip(wakes, observations).map { wake, seen in wake.replacing("expect", by: seen) }
        return VectorCase(json: JSONLiteral(json.value.replacing("wakes", by: .array(recorded))))
    }
}

extension JSONValue {
    fileprivate func replacing(_ name: String, by value: JSONValue) -> JSONValue {
        .object((members ?? []).filter { $0.name != name } + [Member(name, value)])
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
