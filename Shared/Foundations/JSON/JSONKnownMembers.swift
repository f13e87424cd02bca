/// The members of an object in a text that a scanner has checked, which are taken by their names, without regard to
/// case (ASCII). The members that remain at the end are unknown.
struct JSONKnownMembers {
    private struct Member {
        let name: JSONSpan
        let value: JSONSpan
        var isKnown = false
    }

    /// Where a member is that is read from the text each time.
    private struct Place {
        let nameLength: UInt32
        let offset: UInt32
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private let object: JSONSpan
    /// Nearly always all members. A text of 2 MiB can have 400,000, and a list of these would take 20 times its memory.
    private var first: [Member] = []
    private var others: [Place] = []
    /// The names that were taken, if there are others.
    private var known: [StaticString] = []

    private static let maxListed = 64

    init(of object: JSONSpan, in bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        self.object = object
        first.reserveCapacity(8)
        for (name, value) in JSONMembers(of: object, in: bytes) {
            if first.count < Self.maxListed {
                first.append(Member(name: name, value: value))
            } else {
                let length = UInt32(clamping: name.contentLength)
                others.append(Place(nameLength: length, offset: UInt32(clamping: name.range.lowerBound)))
            }
        }
    }

    /// The first member of a name, and whether there are more; `nil` if there is none.
    mutating func take(_ name: StaticString) -> (value: JSONSpan, isRepeated: Bool)? {
        var found: (value: JSONSpan, isRepeated: Bool)?
        for index in first.indices where isName(first[index].name, name) {
            first[index].isKnown = true
            found = (found?.value ?? first[index].value, found != nil)
        }
        if !others.isEmpty {
            known.append(name)
            for place in others where place.nameLength == name.utf8CodeUnitCount {
                guard let other = member(at: place), isName(other.name, name) else { continue }
                found = (found?.value ?? other.value, found != nil)
            }
        }
        return found
    }

    func first(_ name: StaticString) -> JSONSpan? {
        if let member = first.first(where: { isName($0.name, name) }) { return member.value }
        return others.lazy.compactMap(member(at:)).first { isName($0.name, name) }?.value
    }

    /// Calls a closure with the name of each member that was not taken.
    func forEachUnknown(_ body: (JSONSpan) -> Void) {
        for member in first where !member.isKnown { body(member.name) }
        for place in others {
            guard let other = member(at: place), !known.contains(where: { isName(other.name, $0) }) else { continue }
            body(other.name)
        }
    }

    private func member(at place: Place) -> (name: JSONSpan, value: JSONSpan)? {
        var rest = JSONMembers(of: object, from: Int(place.offset), in: bytes)
        return rest.next()
    }

    /// Whether the text has a name at a span. Nearly every name has no escapes, and is compared where it is.
    private func isName(_ span: JSONSpan, _ name: StaticString) -> Bool {
        guard span.contentLength == name.utf8CodeUnitCount else { return false }
        if span.hasEscapes { return JSONScanner(bytes).text(of: span).equalsIgnoringASCIICase(name.description) }
        let start = span.range.lowerBound + 1
        for index in 0..<span.contentLength where !isSameLetter(bytes[start + index], name.utf8Start[index]) {
            return false
        }
        return true
    }
}

extension String {
    /// Whether two texts are equal if the case of ASCII letters does not matter.
    package func equalsIgnoringASCIICase(_ other: String) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy(isSameLetter)
    }
}

private func isSameLetter(_ left: UInt8, _ right: UInt8) -> Bool {
    left == right || (left | 0x20 == right | 0x20 && (0x61...0x7A).contains(left | 0x20))
}
