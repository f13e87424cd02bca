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

    /// The installation after all operations.
    ///
    /// - Throws: 400 if one of them fails.
    func applied(to installation: HubInstallation) throws(HubError) -> HubInstallation {
        var patched = installation
        for operation in operations { try patched.apply(operation) }
        try patched.validate()
        return patched
    }

    private static func operation(_ element: JSONValue) throws(HubError) -> Operation {
        guard let name = element[ignoringCase: "op"]?.text, let kind = Operation.Kind(rawValue: name.lowercased())
        else {
            throw HubError.badRequest("The op of a patch operation must be add, replace or remove.")
        }
        // Without empty names; so the leading slash, which some clients forget, is optional.
        let path = (element[ignoringCase: "path"]?.text ?? "").split(separator: "/").map { segment in
            String(segment.replacing("~1", with: "/").replacing("~0", with: "~"))
        }
        guard !path.isEmpty else { throw HubError.badRequest("A patch operation has no path.") }
        let value = element[ignoringCase: "value"]
        guard kind == .remove || value != nil else { throw HubError.badRequest("A patch operation has no value.") }
        return Operation(kind: kind, path: path, value: kind == .remove ? nil : value)
    }
}

extension HubInstallation {
    /// - Throws: 400 for a path that cannot be changed, or an invalid value.
    fileprivate mutating func apply(_ operation: InstallationPatch.Operation) throws(HubError) {
        let rest = Array(operation.path.dropFirst())
        switch operation.path[0].lowercased() {
        case "pushchannel" where rest.isEmpty && operation.kind != .remove:
            pushChannel = try PushChannel(operation.value, platform: platform)
        case "userid" where rest.isEmpty: userID = try Patching.text(operation.value, "userId")
        case "expirationtime" where rest.isEmpty:
            try setExpiration(try Patching.text(operation.value, "expirationTime"))
        case "tags": try Patching.apply(operation, to: &tags, at: rest)
        case "pushvariables": try Patching.apply(operation, to: &pushVariables, at: rest, "pushVariables")
        case "templates": try Patching.apply(operation, to: &templates, at: rest, "templates", part: "template")
        case "secondarytiles":
            try Patching.apply(operation, to: &secondaryTiles, at: rest, "secondaryTiles", part: "tile")
        default: throw Patching.unknownPath
        }
    }
}

/// The operations on the parts of an installation.
private enum Patching {
    typealias Operation = InstallationPatch.Operation

    static let unknownPath = HubError.badRequest("The patch has a path that this operation cannot change.")

    /// Nil for a removal and for an empty text.
    static func text(_ value: JSONValue?, _ name: String) throws(HubError) -> String? {
        guard let value else { return nil }
        guard let text = value.text else { throw HubError.badRequest("The \(name) is not a string.") }
        return text.isEmpty ? nil : try InstallationText.checked(text, name)
    }

    /// `/tags`, `/tags/-` and `/tags/TAG`. `replace` with one value appends it; with an array it replaces the list.
    static func apply(
        _ operation: Operation, to tags: inout [String], at path: [String],
        of owner: InstallationText.TagOwner = .device
    ) throws(HubError) {
        guard path.count <= 1 else { throw unknownPath }
        guard let name = path.first, name != "-" else {
            guard let value = operation.value else {
                tags = []
                return
            }
            if let list = value.orItsText.elements {
                let new = try InstallationText.tags(.array(list), of: owner)
                if operation.kind == .replace { tags = [] }
                for tag in new { InstallationText.append(tag, to: &tags) }
            } else {
                InstallationText.append(try InstallationText.tag(value, of: owner), to: &tags)
            }
            return
        }
        guard let value = operation.value else {
            tags.removeAll { $0.lowercased() == name.lowercased() }
            return
        }
        if operation.kind == .replace { tags.removeAll { $0.lowercased() == name.lowercased() } }
        InstallationText.append(try InstallationText.tag(value, of: owner), to: &tags)
    }

    /// An object of strings as a whole, or one of its members.
    static func apply(
        _ operation: Operation, to values: inout NamedValues<String>, at path: [String], _ name: String
    ) throws(HubError) {
        guard path.count <= 1 else { throw unknownPath }
        if let key = path.first {
            values[try InstallationText.checked(key, name)] = try text(operation.value, name)
        } else {
            values = try InstallationText.strings(operation.value?.orItsText, name)
        }
    }

    /// `/templates` and `/templates/NAME`, `/secondaryTiles` and `/secondaryTiles/NAME`, and the paths below them.
    static func apply<Part: PatchablePart>(
        _ operation: Operation, to parts: inout NamedValues<Part>, at path: [String], _ member: String, part: String
    ) throws(HubError) {
        guard let name = path.first else {
            let new = try NamedValues<Part>(operation.value, member, part: part)
            if operation.kind != .add { parts = NamedValues() }
            for entry in new.entries { parts[entry.name] = entry.value }
            return
        }
        guard path.count > 1 else {
            let value = try operation.value.map { value throws(HubError) in try Part(value) }
            parts[try InstallationText.checked(name, "\(part)'s name")] = value
            return
        }
        let isMain = path.count == 2 && path[1].lowercased() == Part.mainMember
        guard var value = parts[name] ?? (isMain ? Part(main: "") : nil) else {
            if operation.kind == .remove { return }
            throw HubError.badRequest("The installation has no \(part) with that name.")
        }
        if parts[name] == nil, operation.kind == .remove { return }
        try value.apply(operation, at: Array(path.dropFirst()))
        parts[try InstallationText.checked(name, "\(part)'s name")] = value
    }
}

/// A template or a secondary tile, whose members a patch can change.
private protocol PatchablePart: InstallationPart {
    /// The only member that creates the part if it does not exist, in lower case.
    static var mainMember: String { get }
    init(main: String)
    mutating func apply(_ operation: InstallationPatch.Operation, at path: [String]) throws(HubError)
}

extension InstallationTemplate: PatchablePart {
    fileprivate static var mainMember: String { "body" }

    fileprivate init(main: String) { self.init(body: main) }

    /// `/body`, `/headers`, `/headers/NAME`, `/tags`, `/tags/TAG`, `/expiry`.
    fileprivate mutating func apply(
        _ operation: InstallationPatch.Operation, at path: [String]
    ) throws(HubError) {
        let rest = Array(path.dropFirst())
        switch path[0].lowercased() {
        case "body" where rest.isEmpty:
            guard let text = try Patching.text(operation.value, "body") else {
                throw HubError.badRequest("The template has no body.")
            }
            body = text
        case "expiry" where rest.isEmpty: expiry = try Patching.text(operation.value, "expiry")
        case "headers": try Patching.apply(operation, to: &headers, at: rest, "headers")
        case "tags": try Patching.apply(operation, to: &tags, at: rest, of: .template)
        default: throw Patching.unknownPath
        }
    }
}

extension SecondaryTile: PatchablePart {
    fileprivate static var mainMember: String { "pushchannel" }

    fileprivate init(main: String) { self.init(pushChannel: main) }

    /// `/pushChannel`, `/tags…`, `/templates…`.
    fileprivate mutating func apply(
        _ operation: InstallationPatch.Operation, at path: [String]
    ) throws(HubError) {
        let rest = Array(path.dropFirst())
        switch path[0].lowercased() {
        case "pushchannel" where rest.isEmpty:
            guard let channel = try Patching.text(operation.value, "pushChannel") else { throw Patching.unknownPath }
            pushChannel = try InstallationText.checkedHandle(channel, "pushChannel")
        case "tags": try Patching.apply(operation, to: &tags, at: rest)
        case "templates": try Patching.apply(operation, to: &templates, at: rest, "templates", part: "template")
        default: throw Patching.unknownPath
        }
    }
}
