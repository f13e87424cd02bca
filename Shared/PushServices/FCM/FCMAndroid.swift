import Foundations

/// `android` of a message, with a time to live that does not outlast the push.
struct FCMAndroid {
    /// `nil` if the message has none, and needs none.
    let json: JSONValue?

    /// Four weeks, the default of FCM too.
    private static let maxSeconds: Int64 = 2_419_200

    init(_ given: JSONValue?, secondsLeft: Int64?) throws(PushRefusal) {
        guard given == nil || given?.members != nil else { throw PushRefusal(.invalid, "android is no object") }
        let seconds = given?["ttl"].map { Self.seconds($0) } ?? Self.maxSeconds
        guard let seconds else { throw PushRefusal(.invalid, "BadTtl") }
        guard let left = secondsLeft, left < seconds else {
            json = given
            return
        }
        let others = (given?.members ?? []).filter { $0.name != "ttl" }
        json = .object(others + [JSONValue.Member("ttl", .string("\(left)s"))])
    }

    subscript(_ name: String) -> JSONValue? { json?[name] }

    /// The whole seconds of a duration such as `3600s` or `3.5s`, with at most 9 decimals; `nil` for another value.
    fileprivate static func seconds(_ value: JSONValue) -> Int64? {
        guard let text = value.text, text.utf8.last == UInt8(ascii: "s") else { return nil }
        let parts = OutsideText.parts(text.dropLast(), at: ".", maxSplits: 1)
        guard parts.allSatisfy({ (1...9).contains($0.utf8.count) && ByteSet.digits.containsAll($0) }),
            let seconds = Int64(parts[0]), seconds <= maxSeconds
        else { return nil }
        return seconds
    }
}

/// How long a push by FCM lives.
package enum FCMTimeToLive {
    /// The time that a payload of the hub says; `nil` if it says none, or 0: FCM then tries once, and the hub as always.
    package static func of(_ payload: [UInt8]) -> Duration? {
        // Most payloads need no reading.
        guard payload.contains("ttl".utf8) || payload.contains("time_to_live".utf8),
            let message = try? FCMMessage.message(payload),
            let seconds = message["android"]?["ttl"].flatMap({ FCMAndroid.seconds($0) }), seconds > 0
        else { return nil }
        return .seconds(seconds)
    }
}
