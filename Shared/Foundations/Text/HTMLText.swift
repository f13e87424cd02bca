package enum HTMLText {
    /// Escapes a text for an element or a quoted attribute, with ``OutsideText/visible(_:)``.
    ///
    /// It goes by scalar and not by character: Swift joins a scalar such as U+0600 and the `<` after it, or a quote and
    /// a combining accent, into one character that is neither `<` nor a quote (UAX 29, GB9b and GB9).
    package static func escape(_ text: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in OutsideText.visible(text).unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// JSON for a `script` element: `</script>` and `<!--` cannot occur in it.
    package static func escape(json: String) -> String {
        String(json.unicodeScalars.replacing("<".unicodeScalars, with: #"\u003c"#.unicodeScalars))
    }
}
