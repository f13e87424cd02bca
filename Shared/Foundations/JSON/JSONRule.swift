/// How a JSON value becomes a Swift value. A rule notes in the reader why it refuses a value.
///
/// Decision: docs/decisions/0026-bodies-by-rules-answers-by-hand.md
package struct JSONRule<Value> {
    /// Reads ``JSONObjectReader/value``; `nil` if that is refused, or stands for no value.
    package let read: (inout JSONObjectReader) -> Value?

    package init(_ read: @escaping (inout JSONObjectReader) -> Value?) { self.read = read }

    package static func object(_ read: @escaping (inout JSONObjectReader) -> Value?) -> JSONRule {
        JSONRule { $0.object(read) }
    }

    /// A string that becomes a value.
    ///
    /// - Parameter requirement: the issue of one that does not.
    package static func string(
        _ requirement: @autoclosure @escaping () -> String, _ make: @escaping (String) -> Value?
    ) -> JSONRule {
        scalar(.string, requirement(), make)
    }

    /// A number that becomes a value.
    ///
    /// - Parameters:
    ///   - requirement: the issue of one that does not.
    ///   - make: gets the digits as they are in the text.
    package static func number(
        _ requirement: @autoclosure @escaping () -> String, _ make: @escaping (String) -> Value?
    ) -> JSONRule {
        scalar(.number, requirement(), make)
    }

    private static func scalar(
        _ kind: JSONSpan.Kind, _ requirement: @autoclosure @escaping () -> String, _ make: @escaping (String) -> Value?
    ) -> JSONRule {
        JSONRule { json in
            guard json.expect(kind) else { return nil }
            let made = make(json.text(of: json.value))
            if made == nil { json.note(requirement()) }
            return made
        }
    }

    /// A list whose length is checked before any element is read.
    ///
    /// - Parameter issue: of a list of another length.
    package static func list<Element>(
        of rule: JSONRule<Element>, _ counts: ClosedRange<Int>, _ issue: @escaping (_ count: Int) -> String
    ) -> JSONRule where Value == [Element] {
        JSONRule { json in
            guard let count = json.count() else { return nil }
            guard counts.contains(count) else {
                json.note(issue(count))
                return nil
            }
            var list: [Element] = []
            list.reserveCapacity(count)
            json.elements { if let element = $0.read(rule) { list.append(element) } }
            return list
        }
    }
}

extension JSONRule where Value: RawRepresentable<String> & CaseIterable {
    /// One of the raw values of an enumeration.
    package static var choice: JSONRule { choice { $0.utf8.elementsEqual($1.utf8) } }

    /// One of the raw values of an enumeration; the case of ASCII letters does not matter.
    package static var choiceIgnoringCase: JSONRule { choice { $0.equalsIgnoringASCIICase($1) } }

    private static func choice(_ isEqual: @escaping (String, String) -> Bool) -> JSONRule {
        .string("The value must be one of: \(Value.allCases.map(\.rawValue).joined(separator: ", ")).") { text in
            Value.allCases.first { isEqual($0.rawValue, text) }
        }
    }
}

extension JSONRule<String> {
    package static var text: JSONRule { .string("") { $0 } }

    /// A text in which a check finds nothing wrong.
    package static func text(_ check: @escaping (String) -> String?) -> JSONRule {
        JSONRule { json in
            guard let text = json.read(.text) else { return nil }
            guard let issue = check(text) else { return text }
            json.note(issue)
            return nil
        }
    }
}

extension JSONRule<Bool> {
    package static var boolean: JSONRule {
        JSONRule { json in json.expect(.boolean) ? json.text(of: json.value) == "true" : nil }
    }
}

extension JSONRule<Double> {
    package static func number(_ range: ClosedRange<Double>) -> JSONRule {
        .number("The value must be a number from \(range.lowerBound) to \(range.upperBound).") { digits in
            Double(digits).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension JSONRule<Int> {
    /// `7.0` and `7e0` are 7.
    package static func integer(_ range: ClosedRange<Int>) -> JSONRule {
        .number("The value must be a whole number from \(range.lowerBound) to \(range.upperBound).") { digits in
            (Int(digits) ?? Double(digits).flatMap(Int.init(exactly:))).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension JSONRule<Timestamp> {
    package static var time: JSONRule { .string(Timestamp.requirement) { Timestamp(rfc3339: $0) } }
}
