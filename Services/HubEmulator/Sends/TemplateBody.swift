import Foundation

/// What a template registration makes of the properties of a template send.
///
/// `$(name)` is replaced by the property, `#(name)` likewise; a property that is not there is empty. The rest of the
/// template language (lengths, escapes, joining) stands as it is written.
enum TemplateBody {
    static func render(_ registration: Registration, properties body: [UInt8]) -> [UInt8] {
        let template = registration.field("BodyTemplate") ?? ""
        let object = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
        var lowered: [String: String] = [:]
        for (name, value) in object { lowered[name.lowercased()] = value as? String }
        return Array(render(template, lowered).utf8)
    }

    private static func render(_ template: String, _ properties: [String: String]) -> String {
        var output = ""
        var rest = template[...]
        while let mark = rest.firstIndex(where: { $0 == "$" || $0 == "#" }) {
            output += rest[..<mark]
            let after = rest[rest.index(after: mark)...]
            guard after.first == "(", let end = after.firstIndex(of: ")") else {
                output.append(rest[mark])
                rest = after
                continue
            }
            output += properties[after[..<end].dropFirst().lowercased()] ?? ""
            rest = after[after.index(after: end)...]
        }
        return output + rest
    }
}
