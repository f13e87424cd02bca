/// The fields of an `Authorization: SharedAccessSignature sr=…&sig=…&se=…&skn=…` header, in any order.
///
/// `resource` and `expiry` keep the bytes that the client signed. Encoding the resource again would fail, because the
/// case of the hexadecimal digits and the set of unescaped characters differ from client to client.
struct SharedAccessSignature: Sendable {
    let resource: String
    let expiry: String
    /// Base64 text of the HMAC, percent-decoded.
    let signature: String
    /// As sent: some clients escape it and some do not.
    let ruleName: String

    /// - Throws: a 401 that names what is missing, with the sub-code that official clients know.
    init(authorization: String?) throws(HubError) {
        guard let authorization, !authorization.isEmpty else { throw HubError.unauthorized(.missingToken) }
        let scheme = "SharedAccessSignature"
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == scheme.lowercased() else {
            throw HubError.unauthorized(.malformedToken)
        }
        var fields: [Substring: Substring] = [:]
        for field in parts[1].split(separator: "&") {
            guard let equals = field.firstIndex(of: "=") else { throw HubError.unauthorized(.malformedToken) }
            let name = field[..<equals].drop { $0 == " " }
            guard fields.updateValue(field[field.index(after: equals)...], forKey: name) == nil else {
                throw HubError.unauthorized(.malformedToken)
            }
        }
        resource = try Self.required("sr", of: fields, else: .audienceNotFound)
        expiry = try Self.required("se", of: fields, else: .expiresOnNotFound)
        signature = PercentDecoding.decode(try Self.required("sig", of: fields, else: .signatureNotFound))
        ruleName = try Self.required("skn", of: fields, else: .issuerNotFound)
    }

    private static func required(
        _ name: Substring, of fields: [Substring: Substring], else fault: TokenFault
    ) throws(HubError) -> String {
        guard let value = fields[name], !value.isEmpty else { throw HubError.unauthorized(fault) }
        return String(value)
    }

    /// What the client's HMAC was made over.
    var stringToSign: String { resource + "\n" + expiry }

    /// The readings of the rule's name to try: percent-decoded, form-decoded, as it stands.
    var ruleNames: [String] {
        [PercentDecoding.decode(ruleName), PercentDecoding.decode(ruleName, plusIsBlank: true), ruleName]
    }
}
