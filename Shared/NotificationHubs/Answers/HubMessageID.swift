/// The hub's ID of what it made, out of `Location`: the last path segment before `?`.
///
/// `https://NS.servicebus.windows.net/HUB/messages/ID?api-version=V` on the Standard tier; other tiers send none.
enum HubMessageID {
    static func inLocation(_ bytes: some BidirectionalCollection<UInt8>) -> String? {
        let path = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let segment = path.suffix(while: { $0 != UInt8(ascii: "/") })
        guard !segment.isEmpty, segment.count <= 255, segment.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return String(decoding: segment, as: UTF8.self)
    }
}

extension BidirectionalCollection {
    /// The longest end of which every element is as asked.
    fileprivate func suffix(while predicate: (Element) -> Bool) -> SubSequence {
        var start = endIndex
        while start > startIndex {
            let before = index(before: start)
            guard predicate(self[before]) else { break }
            start = before
        }
        return self[start...]
    }
}
