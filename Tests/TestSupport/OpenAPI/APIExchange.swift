import Foundation

/// One request to a service and its answer.
package struct APIExchange: Sendable {
    package struct Header: Sendable {
        /// In lower case.
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name.lowercased()
            self.value = value
        }
    }

    package let method: String
    package let path: String
    /// What follows the `?`.
    package let query: String
    package let requestHeaders: [Header]
    package let requestBody: [UInt8]
    package let status: Int
    package let headers: [Header]
    package let body: [UInt8]
    /// The bodies as JSON, read once for the many comparisons; `nil` for what is none.
    let requestJSON: JSONNode?
    let json: JSONNode?

    package init(
        method: String, uri: String, requestHeaders: [Header], requestBody: [UInt8], status: Int, headers: [Header],
        body: [UInt8]
    ) {
        let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        self.method = method.lowercased()
        path = parts[0]
        query = parts.count > 1 ? parts[1] : ""
        self.requestHeaders = requestHeaders
        self.requestBody = requestBody
        self.status = status
        self.headers = headers
        self.body = body
        requestJSON = status < 300 ? Self.value(of: requestBody, requestHeaders.mediaType) : nil
        json = headers.mediaType?.hasSuffix("json") == true ? try? JSONNode(body) : nil
    }

    /// A JSON document, or a form as an object of strings.
    private static func value(of body: [UInt8], _ mediaType: String?) -> JSONNode? {
        if mediaType == "application/json" { return try? JSONNode(body) }
        guard mediaType == "application/x-www-form-urlencoded" else { return nil }
        var members: [String: JSONNode] = [:]
        for pair in String(decoding: body, as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            members[parts[0]] = .string(parts.count > 1 ? parts[1].removingPercentEncoding ?? "" : "")
        }
        return .object(members)
    }
}

extension [APIExchange.Header] {
    /// The first value of a header.
    func first(_ name: String) -> String? { first { $0.name == name.lowercased() }?.value }

    /// The media type in `Content-Type`, without its parameters.
    var mediaType: String? { first("content-type")?.split(separator: ";").first.map(String.init) }
}
