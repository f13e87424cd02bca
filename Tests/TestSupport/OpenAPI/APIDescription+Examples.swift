extension APIDescription {
    /// The examples that differ from their own schemas: of parameters, headers, media types and schemas.
    package var exampleIssues: [String] { exampleIssues(in: root, at: "") }

    /// The operations that links lead to and that there are not.
    package var brokenLinks: [String] {
        let known = Set(operations.compactMap { self[$0]["operationId"]?.text })
        let responses = operations.flatMap { self[$0]["responses"]?.members.values.map(\.self) ?? [] }
        let links = responses.flatMap { $0["links"]?.members.values.map(\.self) ?? [] }
        return links.compactMap { $0["operationId"]?.text }.filter { !known.contains($0) }
    }

    /// The bodies that a request of an operation may have, by the document's examples.
    package func requestExamples(_ method: String, _ path: String) -> [JSONNode] {
        let content = root.at(["paths", path, method, "requestBody", "content"])?.members ?? [:]
        return content.values.flatMap(examples)
    }

    private func exampleIssues(in node: JSONNode, at pointer: String) -> [String] {
        var issues: [String] = []
        if let schema = node["schema"] {
            for example in examples(of: node) {
                if let itemSchema = node["x-itemSchema"] {
                    for line in (example.text ?? "").split(separator: "\n") {
                        let value = (try? JSONNode(Array(line.utf8))) ?? .null
                        issues += check(value, itemSchema, at: "\(pointer) line")
                    }
                } else {
                    issues += check(example, schema, at: pointer)
                }
            }
        } else {
            for example in node["examples"]?.elements ?? [] { issues += check(example, node, at: pointer) }
        }
        for (name, member) in node.members where name != "example" && name != "examples" {
            issues += exampleIssues(in: member, at: "\(pointer)/\(name)")
        }
        return issues
    }

    private func examples(of node: JSONNode) -> [JSONNode] {
        (node["example"].map { [$0] } ?? []) + (node["examples"]?.members.values.compactMap { $0["value"] } ?? [])
    }
}
