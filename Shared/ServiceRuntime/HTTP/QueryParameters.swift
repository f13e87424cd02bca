import SecurePushCore

/// The parameters of a request's query, taken one by one; everything that is wrong with them is named at once.
///
/// Form encoding, as browsers and most HTTP clients write it: `&` between parameters, percent-encoded UTF-8, `+` for a
/// blank. Names are matched without regard to ASCII case, as members of bodies are; unknown and repeated ones are 422.
public struct QueryParameters {
    /// By name in the contract's spelling; `nil` for a value that cannot be read, which is noted.
    private var values: [String: String?] = [:]
    private var issues = MemberIssues()

    /// - Parameters:
    ///   - query: what follows the `?`, as it came.
    ///   - known: the names that may occur, in the contract's own spelling.
    ///   - plusIsBlank: whether `+` stands for a blank; device handles hold it as it is.
    public init(_ query: String?, known: [String], plusIsBlank: Bool = true) {
        for parameter in (query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
            let parts = parameter.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let given = FormEncoding.text(parts[0], plusIsBlank: plusIsBlank) else {
                note("", "The name of a parameter is not percent-encoded UTF-8.")
                continue
            }
            guard let name = known.first(where: { $0.equalsIgnoringASCIICase(given) }) else {
                note("/" + given.escapedForJSONPointer, "There is no such parameter.")
                continue
            }
            guard !values.keys.contains(name) else {
                note("/" + name, "The parameter is repeated.")
                continue
            }
            let value = parts.count > 1 ? FormEncoding.text(parts[1], plusIsBlank: plusIsBlank) : ""
            if value == nil { note("/" + name, "The value is not percent-encoded UTF-8.") }
            values[name] = .some(value)
        }
    }

    /// The value of a parameter; `nil` where it is not given, or cannot be used, which is noted with `requirement`.
    public mutating func take<Value>(
        _ name: String, _ requirement: String, _ make: (String) -> Value?
    ) -> Value? {
        guard let given = values[name], let text = given else { return nil }
        if let value = make(text) { return value }
        note("/" + name, requirement)
        return nil
    }

    /// A whole number in decimal digits, within a range.
    public mutating func takeNumber(_ name: String, in range: ClosedRange<Int>) -> Int? {
        take(name, "The value must be a whole number from \(range.lowerBound) to \(range.upperBound).") { text in
            guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// To be called once everything is taken.
    ///
    /// - Throws: 422 with every offending parameter (see ``MemberIssues``).
    public func check() throws(Problem) {
        if !issues.isEmpty { throw .unprocessable("Some parameters are not as they must be.", issues: issues) }
    }

    private mutating func note(_ pointer: String, _ detail: String) {
        issues.note(pointer, detail)
    }
}

/// `application/x-www-form-urlencoded` (WHATWG URL, section 5.1), but strict: what is not well-formed is not guessed.
private enum FormEncoding {
    static func text(_ encoded: some Collection<UInt8>, plusIsBlank: Bool) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoded.count)
        var rest = encoded[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where plusIsBlank: bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
