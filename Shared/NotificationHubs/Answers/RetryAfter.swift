import SecurePushCore

/// Reads `Retry-After`, RFC 9110 section 10.2.3: whole seconds, or an HTTP-date in its one current form.
enum RetryAfter {
    /// - Returns: how long to wait from `now`, never negative; `nil` for what is neither form.
    static func duration(_ text: String, now: Timestamp) -> Duration? {
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            // Longer than an Int64 takes is as good as for ever; a day is the most that makes sense to a retry.
            return .seconds(min(Int64(text) ?? longest, longest))
        }
        guard let time = HTTPDate.timestamp(text) else { return nil }
        return .milliseconds(min(max(0, time.milliseconds - now.milliseconds), longest * 1000))
    }

    private static let longest: Int64 = 86_400
}

/// Reads an HTTP-date, RFC 9110 section 5.6.7, in its one current form.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, by way of the RFC 3339 form of the same date.
    static func timestamp(_ text: String) -> Timestamp? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", parts[1].utf8.count == 2,
            let month = months.firstIndex(where: { $0 == parts[2] })
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(rfc3339: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }
}
