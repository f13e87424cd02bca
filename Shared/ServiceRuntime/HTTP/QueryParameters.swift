import Foundations

/// The parameters of a request's query, taken one by one. All mistakes are reported at once.
///
/// Form encoding, as browsers and most HTTP clients write it: `&` between parameters, percent-encoded UTF-8, `+` for a
/// blank. Names are compared without regard to ASCII case, like members of bodies. Unknown and repeated ones are 422.
package struct QueryParameters {
    /// By name in the contract's spelling; `nil` for a value that cannot be decoded, which is noted.
    private var values: [String: String?] = [:]
    private var issues = MemberIssues()

    /// - Parameters:
    ///   - query: the text after the `?`, as it was sent.
    ///   - known: the names that may occur, in the contract's spelling.
    ///   - plusIsBlank: whether `+` stands for a blank; device handles contain a literal one.
    ///   - ignoresUnknown: whether other names are ignored, for a path that took no parameters before, and for a form
    ///     of RFC 6749.
    package init(_ query: String?, known: [String], plusIsBlank: Bool = true, ignoresUnknown: Bool = false) {
        for parameter in (query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
            let parts = parameter.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let given = PercentCoding.decode(parts[0], plusIsBlank: plusIsBlank) else {
                if ignoresUnknown { continue }
                issues.note("", "The name of a parameter is not percent-encoded UTF-8.")
                continue
            }
            guard let name = known.first(where: { $0.equalsIgnoringASCIICase(given) }) else {
                if ignoresUnknown { continue }
                issues.note("/" + given.escapedForJSONPointer, "There is no such parameter.")
                continue
            }
            guard !values.keys.contains(name) else {
                issues.note("/" + name, "The parameter is repeated.")
                continue
            }
            let value = parts.count > 1 ? PercentCoding.decode(parts[1], plusIsBlank: plusIsBlank) : ""
            if value == nil { issues.note("/" + name, "The value is not percent-encoded UTF-8.") }
            values[name] = .some(value)
        }
    }

    /// The value of a parameter; `nil` if it is missing, or if `make` refuses it, which is noted with `requirement`.
    package mutating func take<Value>(
        _ name: String, _ requirement: String, _ make: (String) -> Value?
    ) -> Value? {
        guard let given = values[name], let text = given else { return nil }
        if let value = make(text) { return value }
        issues.note("/" + name, requirement)
        return nil
    }

    /// A whole number in decimal digits, within a range.
    package mutating func takeNumber(_ name: String, in range: ClosedRange<Int>) -> Int? {
        take(name, "The value must be a whole number from \(range.lowerBound) to \(range.upperBound).") { text in
            guard ByteSet.digits.containsAll(text) else { return nil }
            return Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Reports the mistakes. To be called once everything is taken.
    ///
    /// - Throws: ``Problem`` 422 with every invalid parameter.
    package func check() throws(Problem) {
        if !issues.isEmpty { throw .unprocessable("The query is invalid; see `errors`.", issues: issues) }
    }
}
