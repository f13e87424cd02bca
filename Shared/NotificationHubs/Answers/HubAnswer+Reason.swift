extension HubAnswer {
    /// `HTTP 400: DETAIL`, with the text of the error body's `<Detail>` where it has one.
    ///
    /// Bodies that are not the hub's XML (a proxy's page) are left out, and so is all that follows the name of a
    /// credential: reasons are stored and logged.
    var reason: String {
        guard let detail else { return "HTTP \(status)" }
        return "HTTP \(status): \(detail)"
    }

    private static let maxDetail = 300
    private static let credentials = ["SharedAccessSignature", "SharedAccessKey", "sig=", "Authorization"]

    private var detail: String? {
        guard !body.isEmpty else { return nil }
        let text = String(decoding: body, as: UTF8.self)
        guard let start = text.firstRange(of: "<Detail>") else { return nil }
        // The body may have been cut within the element.
        let rest = text[start.upperBound...]
        var detail = XMLText.decode(String(rest.prefix { $0 != "<" })) ?? ""
        for credential in Self.credentials {
            if let found = detail.firstRange(of: credential) {
                detail.removeSubrange(found.lowerBound...)
                detail.append("…")
            }
        }
        detail.unicodeScalars.removeAll { $0.value < 0x20 || $0.value == 0x7F }
        return detail.isEmpty ? nil : String(detail.prefix(Self.maxDetail))
    }
}
