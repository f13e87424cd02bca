/// An OpenAPI document, looked into by tests.
package struct APIDescription: Sendable {
    package struct Operation: Sendable, Hashable {
        /// With its captures in braces.
        package let path: String
        /// In lower case.
        package let method: String

        /// As it stands in the document.
        var location: [String] { ["paths", path, method] }
    }

    package let root: JSONNode
    /// In the order of their paths.
    package let operations: [Operation]

    package init(_ root: JSONNode) {
        self.root = root
        operations = (root["paths"]?.members ?? [:]).flatMap { path, item in
            item.members.keys.map { Operation(path: path, method: $0) }
        }.sorted { ($0.path, $0.method) < ($1.path, $1.method) }
    }

    /// `METHOD path` of every operation, as routes are listed.
    package var routes: Set<String> { Set(operations.map { "\($0.method.uppercased()) \($0.path)" }) }

    /// `METHOD path status` of everything that is documented.
    package var outcomes: Set<String> {
        Set(
            operations.flatMap { operation in
                let statuses = self[operation]["responses"]?.members.keys.map(\.self) ?? []
                return statuses.filter { !Self.ofEveryOperation.contains($0) }.map(operation.outcome)
            })
    }

    /// `OpenAPIDocument` gives these to every operation: for what is not HTTP, and for methods that its path lacks.
    static let ofEveryOperation: Set<String> = ["400", "405"]

    subscript(operation: Operation) -> JSONNode { root.at(operation.location) ?? .null }

    /// Follows references within the document.
    func resolved(_ node: JSONNode) -> JSONNode {
        guard let reference = node["$ref"]?.text else { return node }
        let names = reference.dropFirst(2).split(separator: "/").map(String.init)
        return root.at(names).map(resolved) ?? .null
    }

    /// The operation of a request; `HEAD` is the path's `GET`. A path without captures goes first.
    func operation(_ method: String, _ path: String) -> Operation? {
        let segments = path.split(separator: "/")
        let found = operations.filter { operation in
            let pattern = operation.path.split(separator: "/")
            return operation.method == (method == "head" ? "get" : method) && pattern.count == segments.count
                && zip(pattern, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
        return found.min { captures(in: $0) < captures(in: $1) }
    }

    private func captures(in operation: Operation) -> Int { operation.path.count { $0 == "{" } }
}

extension APIDescription.Operation {
    /// How an outcome of it is named in tables.
    func outcome(_ status: String) -> String { "\(method.uppercased()) \(path) \(status)" }
}

extension String {
    /// A router's path as OpenAPI writes it: captures in braces instead of after a colon.
    package var withBraces: String {
        split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }.joined(separator: "/")
    }

    /// `METHOD path status` as the place of the status in the document.
    package var partOfDocument: String {
        let words = split(separator: " ")
        return "paths/\(words[1])/\(words[0].lowercased())/responses/\(words[2])"
    }
}
