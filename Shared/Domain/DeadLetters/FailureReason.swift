import Foundations

/// The reason of a failure, as failures are grouped by it and lists show it.
package enum FailureReason {
    /// The characters of a reason.
    package static let maxLength = 200

    package static func of(_ delivery: Delivery) -> String { normal(delivery.error ?? "no reason given") }

    /// The reason without the parts that differ from request to request: the hub's tracking ID and time, long numbers.
    package static func normal(_ text: String) -> String {
        var text = text[...]
        if let tracking = text.firstRange(of: "TrackingId") { text = text[..<tracking.lowerBound] }
        while let last = text.last, " .,;:(".contains(last) { text.removeLast() }
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map { word -> Substring in
            let core = word.utf8.filter { !punctuation.contains($0) }
            let digits = core.count { ByteSet.digits.contains($0) }
            return core.count >= 8 && digits * 3 >= core.count ? "…" : word
        }
        return String(words.joined(separator: " ").prefix(maxLength))
    }

    private static let punctuation = ByteSet("(),.;:")
}
