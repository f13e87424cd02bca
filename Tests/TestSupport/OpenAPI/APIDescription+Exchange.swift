import Foundation

extension APIDescription {
    /// Headers that HTTP itself brings along (RFC 9110, RFC 9112).
    private static let ofHTTP: Set<String> = [
        "content-type", "content-length", "date", "transfer-encoding", "connection",
    ]

    /// The outcome that an exchange is one of; `nil` where there is no such operation.
    package func outcome(of exchange: APIExchange) -> String? {
        guard exchange.method != "head" else { return nil }
        return operation(exchange.method, exchange.path)?.outcome("\(exchange.status)")
    }

    /// How an exchange differs from the document: status, headers, media type, body, and of what was accepted the
    /// parameters and the body of the request.
    package func issues(of exchange: APIExchange) -> [String] {
        let name = "\(exchange.method.uppercased()) \(exchange.path) \(exchange.status)"
        guard let operation = operation(exchange.method, exchange.path) else {
            let responses = root.at(["components", "responses"])
            let names = [404: "NotFound", 405: "MethodNotAllowed"]
            guard let response = names[exchange.status].flatMap({ responses?[$0] }) else {
                return ["\(name): no such operation"]
            }
            return responseIssues(exchange, response).map { "\(name): \($0)" }
        }
        guard let response = self[operation].at(["responses", "\(exchange.status)"]) else {
            return ["\(name): the status is not documented"]
        }
        var issues = responseIssues(exchange, resolved(response))
        if exchange.status < 300 { issues += requestIssues(exchange, self[operation]) }
        return issues.map { "\(name): \($0)" }
    }

    // MARK: The answer

    private func responseIssues(_ exchange: APIExchange, _ response: JSONNode) -> [String] {
        headerIssues(exchange.headers, response["headers"]?.members ?? [:])
            + contentIssues(exchange, response["content"]?.members ?? [:])
    }

    private func headerIssues(_ headers: [APIExchange.Header], _ documented: [String: JSONNode]) -> [String] {
        let known = Dictionary(uniqueKeysWithValues: documented.map { ($0.key.lowercased(), resolved($0.value)) })
        let missing = known.filter { $0.value["required"] == .boolean(true) && headers.first($0.key) == nil }
        return missing.map { "the header \($0.key) is missing" }
            + headers.filter { !Self.ofHTTP.contains($0.name) }.flatMap { header -> [String] in
                guard let schema = known[header.name]?["schema"] else { return ["undocumented header \(header.name)"] }
                return check(value(header.value, of: schema), schema, at: header.name)
            }
    }

    private func contentIssues(_ exchange: APIExchange, _ content: [String: JSONNode]) -> [String] {
        let type = exchange.headers.mediaType
        if content.isEmpty {
            return exchange.body.isEmpty && type == nil ? [] : ["there is content, and none is documented"]
        }
        guard let type, let media = content[type] else { return ["the media type \(type ?? "none") is not documented"] }
        if exchange.method == "head" { return exchange.body.isEmpty ? [] : ["HEAD has content"] }
        guard let schema = media["schema"] else { return ["\(type) has no schema"] }
        if let itemSchema = media["x-itemSchema"] {
            return lines(exchange.body).flatMap { check(json($0), itemSchema, at: "line") }
        }
        return check(exchange.json ?? .string(text(exchange.body)), schema, at: "body")
    }

    // MARK: The request

    private func requestIssues(_ exchange: APIExchange, _ operation: JSONNode) -> [String] {
        let parameters = operation["parameters"]?.elements.map(resolved) ?? []
        var issues: [String] = []
        for pair in exchange.query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { String($0).removingPercentEncoding ?? "" }
            guard let parameter = parameters.first(where: { $0["in"]?.text == "query" && $0["name"]?.text == parts[0] })
            else {
                issues.append("undocumented parameter \(parts[0])")
                continue
            }
            let schema = parameter["schema"] ?? .null
            issues += check(value(parts.count > 1 ? parts[1] : "", of: schema), schema, at: parts[0])
        }
        for header in exchange.requestHeaders where !["authorization", "content-type"].contains(header.name) {
            let parameter = parameters.first {
                $0["in"]?.text == "header" && $0["name"]?.text?.lowercased() == header.name
            }
            guard let schema = parameter?["schema"] else {
                issues.append("undocumented request header \(header.name)")
                continue
            }
            issues += check(.string(header.value), schema, at: header.name)
        }
        return issues + requestBodyIssues(exchange, resolved(operation["requestBody"] ?? .null))
    }

    private func requestBodyIssues(_ exchange: APIExchange, _ requestBody: JSONNode) -> [String] {
        if exchange.requestBody.isEmpty {
            return requestBody["required"] == .boolean(true) ? ["accepted without the required body"] : []
        }
        guard let type = exchange.requestHeaders.mediaType, let media = requestBody.at(["content", type]) else {
            return ["accepted a body that is not documented"]
        }
        guard let itemSchema = media["x-itemSchema"] else {
            let value = exchange.requestJSON ?? .string("no JSON")
            return check(value, media["schema"] ?? .null, at: "request")
        }
        return zip(lines(exchange.requestBody), lines(exchange.body)).flatMap { line, result in
            // A refused line need not be as documented.
            json(result)["status"] == nil ? check(json(line), itemSchema, at: "request line") : []
        }
    }

    // MARK: Values

    func check(_ value: JSONNode, _ schema: JSONNode, at pointer: String) -> [String] {
        SchemaChecker(document: self).issues(value, schema, at: pointer)
    }

    /// A header's or parameter's text as the value that its schema describes.
    private func value(_ text: String, of schema: JSONNode) -> JSONNode {
        switch resolved(schema)["type"]?.text {
        case "integer": Double(text).map { .number($0) } ?? .string(text)
        case "boolean": Bool(text).map { .boolean($0) } ?? .string(text)
        default: .string(text)
        }
    }

    /// What is no JSON is a string, which no schema of an object takes.
    private func json(_ bytes: some Sequence<UInt8>) -> JSONNode {
        (try? JSONNode(bytes)) ?? .string("no JSON: \(text(bytes))")
    }

    private func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

    private func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] { bytes.split(separator: UInt8(ascii: "\n")) }
}
