import Foundation
import TestSupport

/// An answer as `curl -i` writes it.
struct APIAnswer {
    /// With the code, without the reason.
    let statusLine: String
    /// Names in lower case.
    let headers: Set<String>
    let body: String

    init(_ text: String) {
        let lines = text.replacing("\r\n", with: "\n")
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let head = lines.prefix { !$0.isEmpty }
        statusLine = head.first?.split(separator: " ").prefix(2).joined(separator: " ") ?? ""
        headers = Set(head.dropFirst().map { $0.prefix { $0 != ":" }.lowercased() })
        body = lines.dropFirst(head.count + 1).joined(separator: "\n").trimmingCharacters(in: .newlines)
    }

    /// Which members each line of JSON has, at any depth, without their values.
    var shapes: [String] {
        body.split(separator: "\n").map { line in
            (try? JSONNode(Array(line.utf8))).map(APIAnswer.shape) ?? "no JSON"
        }
    }

    /// What later commands need of it, by their variables' names.
    var values: [String: String] {
        guard let line = body.split(separator: "\n").first, let json = try? JSONNode(Array(line.utf8)) else {
            return [:]
        }
        if let registration = json.text { return ["REGISTRATION": registration] }
        var values: [String: String] = [:]
        values["ID"] = json["Id"]?.text
        values["TOKEN"] = json["access_token"]?.text
        values["REFRESH_TOKEN"] = json["refresh_token"]?.text
        return values
    }

    /// Of a list its first element stands for all.
    private static func shape(_ node: JSONNode) -> String {
        switch node {
        case .object(let members):
            let parts = members.sorted { $0.key < $1.key }.map { "\($0.key):\(shape($0.value))" }
            return "{\(parts.joined(separator: ","))}"
        case .array(let elements): return "[\(elements.first.map(shape) ?? "")]"
        case .string: return "string"
        case .number: return "number"
        case .boolean: return "boolean"
        case .null: return "null"
        }
    }
}
