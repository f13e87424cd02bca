import SecurePushCore

/// A patch of an installation, `[{"op":"add","path":"/tags","value":"x"}, …]`, in the service's own reading of JSON
/// Patch.
///
/// Unlike in RFC 6902 tags and templates are addressed by name, adding to `/tags` appends, removing what is not there
/// is no error, and values that are objects may come as JSON text.
struct InstallationPatch: Sendable {
    struct Operation: Sendable {
        enum Kind: String, Sendable { case add, replace, remove }

        let kind: Kind
        /// The segments of the path, unescaped; never empty.
        let path: [String]
        /// Nil only for a removal.
        let value: JSONValue?
    }

    let operations: [Operation]

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

    /// The installation after all operations; none is done when one cannot be.
    ///
    /// - Throws: 400.
    func applied(to installation: HubInstallation) throws(HubError) -> HubInstallation {
        var patched = installation
        for operation in operations { try patched.apply(operation) }
        try patched.validate()
        return patched
    }

    private static func operation(_ element: JSONValue) throws(HubError) -> Operation {
        guard let name = element["op"]?.text, let kind = Operation.Kind(rawValue: name.lowercased()) else {
            throw HubError.badRequest("A patch operation's op is add, replace or remove.")
        }
        // Empty names are left out, and with them the slash in front, which some clients forget.
        let path = (element["path"]?.text ?? "").split(separator: "/").map { segment in
            String(segment.replacing("~1", with: "/").replacing("~0", with: "~"))
        }
        guard !path.isEmpty else { throw HubError.badRequest("A patch operation has no path.") }
        let value = element["value"]
        guard kind == .remove || value != nil else { throw HubError.badRequest("A patch operation has no value.") }
        return Operation(kind: kind, path: path, value: kind == .remove ? nil : value)
    }
}
