import Foundations

/// A patch of an installation in the service's variant of JSON Patch: `[{"op":"add","path":"/tags","value":"x"}, …]`.
///
/// Unlike in RFC 6902, tags and templates are addressed by name, adding to `/tags` appends, removing an unknown value
/// is not an error, and objects may be written as JSON text.
struct InstallationPatch: Sendable {
    struct Operation: Sendable {
        enum Kind: String, Sendable { case add, replace, remove }

        let kind: Kind
        /// The unescaped segments of the path; never empty.
        let path: [String]
        /// Nil for a removal only.
        let value: JSONValue?
    }

    private let operations: [Operation]

    /// - Throws: 400.
    init(_ bytes: [UInt8]) throws(HubError) {
        let document: JSONValue
        do {
            document = try JSONValue(bytes)
        } catch {
            throw HubError.badRequest("The patch cannot be read: \(error.description).")
        }
        guard let elements = document.elements else { throw HubError.badRequest("The patch is not a JSON array.") }
        var operations: [Operation] = []
        for element in elements { operations.append(try Self.operation(element)) }
        self.operations = operations
    }

    /// The installation after all operations on its document, which the reader of a PUT checks.
    ///
    /// - Throws: 400 for a path that cannot be changed, or an invalid result; 413 for one that is too large.
    func applied(to installation: HubInstallation) throws(HubError) -> HubInstallation {
        var document = installation.json
        for operation in operations {
            document = try PatchNode.edited(document, operation, operation.path[...], PatchNode.installation)
        }
        let patched = try HubInstallation(id: installation.id, object: document)
        // Otherwise an installation could grow with each patch. An imported one may be larger, and must not grow.
        let size = patched.json.json.utf8.count
        guard size <= HubInstallation.maxBytes || size <= installation.json.json.utf8.count else {
            throw HubError.installationTooLarge
        }
        return patched
    }

    private static func operation(_ element: JSONValue) throws(HubError) -> Operation {
        guard let name = element[ignoringCase: "op"]?.text, let kind = Operation.Kind(rawValue: name.lowercased())
        else {
            throw HubError.badRequest("The op of a patch operation must be add, replace or remove.")
        }
        // Without empty names; so the leading slash, which some clients forget, is optional.
        let path = (element[ignoringCase: "path"]?.text ?? "").unicodeScalars.split(separator: "/").map { segment in
            let text = segment.replacing("~1".unicodeScalars, with: "/".unicodeScalars)
            return String(text.replacing("~0".unicodeScalars, with: "~".unicodeScalars))
        }
        guard !path.isEmpty else { throw HubError.badRequest("A patch operation has no path.") }
        let value = element[ignoringCase: "value"]
        guard kind == .remove || value != nil else { throw HubError.badRequest("A patch operation has no value.") }
        return Operation(kind: kind, path: path, value: kind == .remove ? nil : value)
    }
}

/// The operations that a patch can have at a path in the document of an installation.
private indirect enum PatchNode: Sendable {
    typealias Operation = InstallationPatch.Operation
    typealias Members = KeyValuePairs<String, PatchNode>

    case value
    /// Cannot be removed.
    case required
    case tags
    case strings
    /// Objects with names, of these members. The main one creates an object that does not exist.
    case parts(_ part: String, main: String, Members)

    static let installation: Members = [
        "pushChannel": .required, "userId": .value, "expirationTime": .value, "tags": .tags, "pushVariables": .strings,
        "templates": templates,
        "secondaryTiles": .parts(
            "tile", main: "pushChannel", ["pushChannel": .required, "tags": .tags, "templates": templates]),
    ]
    private static let templates = PatchNode.parts(
        "template", main: "body", ["body": .value, "headers": .strings, "tags": .tags, "expiry": .value])
    private static let unknownPath = HubError.badRequest("The patch has a path that this operation cannot change.")

    /// An object after an operation on one of its members; the names of members have no case.
    static func edited(
        _ object: JSONValue, _ operation: Operation, _ path: ArraySlice<String>, _ members: Members
    ) throws(HubError) -> JSONValue {
        guard let (name, node) = members.first(where: { $0.key.equalsIgnoringASCIICase(path.first ?? "") }) else {
            throw unknownPath
        }
        let value = try node.edited(object[ignoringCase: name], name, operation, path.dropFirst())
        return object.setting(name, to: value) { $0.equalsIgnoringASCIICase(name) }
    }

    /// The value after an operation at the path below it; nil: none.
    private func edited(
        _ value: JSONValue?, _ name: String, _ operation: Operation, _ path: ArraySlice<String>
    ) throws(HubError) -> JSONValue? {
        switch self {
        case .value where path.isEmpty: return operation.value
        case .required where path.isEmpty && operation.kind != .remove: return operation.value
        case .tags where path.count <= 1: return .array(try Self.tags(value, operation, path.first))
        case .strings where path.isEmpty: return operation.value?.orItsText
        case .strings where path.count == 1:
            let text = operation.value == .string("") ? nil : operation.value
            return try Self.object(value, "The \(name) are not an object.").setting(path[path.startIndex], to: text)
        case .parts(let part, let main, let members):
            let parts = try Self.object(value, "The \(name) are not an object.")
            guard let key = path.first else {
                let new = try operation.value.map { value throws(HubError) in
                    try Self.object(value, "The \(name) are not an object.")
                }
                guard operation.kind == .add else { return new }
                return (new?.members ?? []).filter { $0.value != .null }.reduce(parts) {
                    $0.setting($1.name, to: $1.value)
                }
            }
            let rest = path.dropFirst()
            if rest.isEmpty { return parts.setting(key, to: operation.value) }
            let known = parts.members?.last { $0.name == key && $0.value != .null }?.value
            if known == nil {
                if operation.kind == .remove { return value }
                guard rest.count == 1, rest.first?.equalsIgnoringASCIICase(main) == true else {
                    throw HubError.badRequest("The installation has no \(part) with that name.")
                }
            }
            let object = try Self.object(known, "The \(part) is not a JSON object.")
            return parts.setting(key, to: try Self.edited(object, operation, rest, members))
        default: throw Self.unknownPath
        }
    }

    /// `/tags`, `/tags/-` and `/tags/TAG`. `replace` with one value appends it; with an array it replaces the list. The
    /// reader drops repeated tags.
    private static func tags(
        _ value: JSONValue?, _ operation: Operation, _ name: String?
    ) throws(HubError) -> [JSONValue] {
        guard var tags = (value ?? .array([])).elements else { throw HubError.badRequest("The tags are not an array.") }
        if let name, name != "-" {
            if operation.kind != .add { tags.removeAll { $0.text?.lowercased() == name.lowercased() } }
            return tags + [operation.value].compactMap(\.self)
        }
        guard let value = operation.value else { return [] }
        guard let list = value.orItsText.elements else { return tags + [value] }
        return operation.kind == .replace ? list : tags + list
    }

    /// The object, or the object of its JSON text; an empty one for nil.
    private static func object(_ value: JSONValue?, _ refusal: String) throws(HubError) -> JSONValue {
        let object = value?.orItsText ?? .object([])
        guard object.members != nil else { throw HubError.badRequest(refusal) }
        return object
    }
}

extension JSONValue {
    /// The object with a member instead of those of its name, at the place of the first; nil: without them.
    func setting(_ name: String, to value: JSONValue?) -> JSONValue {
        setting(name, to: value) { $0 == name }
    }

    fileprivate func setting(_ name: String, to value: JSONValue?, where isNamed: (String) -> Bool) -> JSONValue {
        var members = members ?? []
        let index = members.firstIndex { isNamed($0.name) }
        members.removeAll { isNamed($0.name) }
        if let value { members.insert(Member(name, value), at: index ?? members.count) }
        return .object(members)
    }
}
