import Foundation

/// The properties of a template send: the names count in any case.
struct TemplateProperties: Sendable {
    /// The whole message, for `$body`.
    let message: String
    private var values: [String: String] = [:]

    /// Reads the body of a template send: a JSON object of strings.
    ///
    /// - Throws: 400 when it is another thing.
    init(message body: [UInt8]) throws(HubError) {
        guard let object = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] else {
            throw HubError.badRequest("The body of a template notification must be a JSON object.")
        }
        message = String(decoding: body, as: UTF8.self)
        for (name, value) in object {
            guard let text = value as? String else {
                throw HubError.badRequest("The properties of a template notification must be strings.")
            }
            values[name.lowercased()] = text
        }
    }

    /// These, and below them the push variables of an installation: a JSON object of strings. Anything else adds none.
    func over(pushVariables text: String?) -> TemplateProperties {
        guard let text, !text.isEmpty,
            let object = (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any]
        else { return self }
        var merged = self
        for (name, value) in object {
            guard let value = value as? String, merged.values[name.lowercased()] == nil else { continue }
            merged.values[name.lowercased()] = value
        }
        return merged
    }

    /// A property that is not there is empty.
    subscript(_ name: String) -> String { values[name.lowercased()] ?? "" }
}
