import Foundation

/// Checks values against JSON Schema (2020-12), as far as our OpenAPI documents use it. A keyword that it does not know
/// is an issue, so that nothing in a document goes unchecked.
struct SchemaChecker {
    let document: APIDescription

    private static let annotations: Set<String> = ["description", "title", "default", "examples", "example"]

    /// What is wrong with a value.
    ///
    /// - Parameter pointer: where the value stands, for the issues.
    func issues(_ value: JSONNode, _ schema: JSONNode, at pointer: String) -> [String] {
        if case .boolean(let allowed) = schema { return allowed ? [] : ["\(pointer): nothing may stand here"] }
        return schema.members.flatMap { keyword, argument -> [String] in
            switch keyword {
            case "$ref": return issues(value, document.resolved(schema), at: pointer)
            case "oneOf":
                let matches = argument.elements.filter { issues(value, $0, at: pointer).isEmpty }.count
                return matches == 1 ? [] : ["\(pointer): \(matches) of oneOf match"]
            case "not": return issues(value, argument, at: pointer).isEmpty ? ["\(pointer): matches not"] : []
            case "type": return isOfType(value, argument) ? [] : ["\(pointer): is not of type \(argument)"]
            case "enum": return argument.elements.contains(value) ? [] : ["\(pointer): \(value) is not in enum"]
            case "const": return argument == value ? [] : ["\(pointer): \(value) is not \(argument)"]
            case "properties", "required", "additionalProperties":
                return objectIssues(value, keyword, argument, of: schema, at: pointer)
            case "items", "minItems", "maxItems", "uniqueItems":
                return arrayIssues(value, keyword, argument, at: pointer)
            case "minLength", "maxLength", "pattern", "format":
                return textIssue(value, keyword, argument).map { ["\(pointer): \($0)"] } ?? []
            case "minimum": return (value.number ?? .infinity) >= argument.number! ? [] : ["\(pointer): too small"]
            case "maximum": return (value.number ?? -.infinity) <= argument.number! ? [] : ["\(pointer): too large"]
            default: return Self.annotations.contains(keyword) ? [] : ["\(pointer): unknown keyword \(keyword)"]
            }
        }
    }

    private func isOfType(_ value: JSONNode, _ type: JSONNode) -> Bool {
        let names = type.text.map { [$0] } ?? type.elements.compactMap(\.text)
        return names.contains { name in
            switch (name, value) {
            case ("null", .null), ("boolean", .boolean), ("number", .number), ("string", .string), ("array", .array),
                ("object", .object):
                true
            case ("integer", .number(let number)): number == number.rounded()
            default: false
            }
        }
    }

    private func objectIssues(
        _ value: JSONNode, _ keyword: String, _ argument: JSONNode, of schema: JSONNode, at pointer: String
    ) -> [String] {
        guard case .object(let members) = value else { return [] }
        switch keyword {
        case "required":
            return argument.elements.compactMap(\.text).filter { members[$0] == nil }
                .map { "\(pointer)/\($0): is missing" }
        case "properties":
            return argument.members.flatMap { name, schema in
                members[name].map { issues($0, schema, at: "\(pointer)/\(name)") } ?? []
            }
        default:
            let known = schema["properties"]?.members ?? [:]
            return members.filter { known[$0.key] == nil }
                .flatMap { issues($0.value, argument, at: "\(pointer)/\($0.key)") }
        }
    }

    private func arrayIssues(
        _ value: JSONNode, _ keyword: String, _ argument: JSONNode, at pointer: String
    ) -> [String] {
        guard case .array(let elements) = value else { return [] }
        switch keyword {
        case "uniqueItems": return Set(elements.map { "\($0)" }).count == elements.count ? [] : ["\(pointer): repeats"]
        case "items":
            return elements.enumerated().flatMap { issues($0.element, argument, at: "\(pointer)/\($0.offset)") }
        case "minItems": return Double(elements.count) >= argument.number! ? [] : ["\(pointer): too few elements"]
        default: return Double(elements.count) <= argument.number! ? [] : ["\(pointer): too many elements"]
        }
    }

    private func textIssue(_ value: JSONNode, _ keyword: String, _ argument: JSONNode) -> String? {
        guard case .string(let text) = value else { return nil }
        switch keyword {
        case "minLength": return Double(text.unicodeScalars.count) >= argument.number! ? nil : "too short"
        case "maxLength": return Double(text.unicodeScalars.count) <= argument.number! ? nil : "too long"
        case "pattern":
            let pattern = argument.text!
            return Self.matches(text, pattern) ? nil : "'\(text)' does not match \(pattern)"
        default:
            guard let pattern = Self.formats[argument.text!] else { return "unknown format \(argument)" }
            return Self.matches(text, pattern) ? nil : "'\(text)' is no \(argument)"
        }
    }

    private static let formats = [
        "uuid": "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
        "date-time": "^[0-9]{4}(-[0-9]{2}){2}[Tt][0-9]{2}(:[0-9]{2}){2}(\\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$",
        "uri-reference": "^([A-Za-z0-9._~:/?#\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$",
    ]

    private static func matches(_ text: String, _ pattern: String) -> Bool {
        guard let expression = try? NSRegularExpression(pattern: pattern) else { return false }
        return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }
}
