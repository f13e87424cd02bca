import Domain
import Foundation
import Foundations

/// The texts in which both databases keep lists in one column. Stored rows have these formats, so they never change.
enum StorageCoding {
    /// Platforms as their names, separated by commas.
    static func encode(platforms: [Platform]) -> String { platforms.map(\.rawValue).joined(separator: ",") }

    static func decodePlatforms(_ text: String) -> [Platform] {
        text.split(separator: ",").map { Platform(rawValue: String($0)) }
    }

    /// The delays of reminders in milliseconds, separated by commas; `nil` for none.
    static func encode(remind: [Duration]) -> String? {
        remind.isEmpty ? nil : remind.map { String($0.milliseconds) }.joined(separator: ",")
    }

    /// - Throws: ``StorageError`` with code `failed` for a text that this program did not write.
    static func decodeRemind(_ text: String) throws(StorageError) -> [Duration] {
        var delays: [Duration] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let delay = Int64(part).map { Duration.milliseconds($0) }
            guard let delay, FollowUpPolicy.reminderDelay.contains(delay) else {
                throw StorageError(.failed, "A notification's reminders cannot be read.")
            }
            delays.append(delay)
        }
        return delays
    }

    /// A registration's tags as a JSON array of strings, in their order.
    static func encode(tags: [String]) -> String {
        var bytes = [UInt8(ascii: "[")]
        for (position, tag) in tags.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONText.append(tag, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Throws: ``StorageError`` with code `failed` for a text that this program did not write.
    static func decodeTags(_ text: String) throws(StorageError) -> [String] {
        guard let tags = try? JSONDecoder().decode([String].self, from: Data(text.utf8)) else {
            throw StorageError(.failed, "A registration's tags cannot be read.")
        }
        return tags
    }
}

extension StorageCoding {
    /// `p` platform, `s` state, `n` attempts, `u` attempts without an answer, `m` the hub's message ID, `e` the last
    /// error, `t` the time of the last change in milliseconds, `c` the notification whose push this one shared, `w` the
    /// number of silent pushes when it began to wait, `r` 1 if the first read withdraws the push, `o` the outcome that
    /// the hub reports.
    private struct StoredDelivery: Decodable {
        let p: String
        let s: String
        let n: Int
        let u: Int?
        let m: String?
        let e: String?
        let t: Int64
        let c: String?
        let w: Int64?
        let r: Int?
        let o: String?
    }

    /// The member `r` of a sent delivery, as it is in the text; see ``Delivery/isWithdrawnOnRead``. Statements search
    /// for it. Within a string its quotes would be escaped.
    static let withdrawnOnRead = #""r":1"#

    /// The state of a platform that accepted the push, as it is in the text. Statements search for it too.
    static let sent = #""s":"sent""#

    /// A sent delivery without an outcome, or with one that will change: a final one would follow the state. A row that
    /// has this text and ``messageID`` may await an outcome.
    static let sentWithoutOutcome = #""s":"sent","n":"#

    /// The name of the hub's message ID, as it is in the text.
    static let messageID = #""m":"#

    /// A notification's deliveries as a JSON array of small objects, such as
    /// `[{"p":"apple","s":"sent","n":1,"t":1790000000000}]`. Members that are `nil` are left out.
    ///
    /// Written by hand because every dispatched notification pays for it; read by `JSONDecoder`, which ignores unknown
    /// members, because only redelivered notifications pay for that.
    static func encode(_ deliveries: [Delivery]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16 + deliveries.count * 160)
        bytes.append(UInt8(ascii: "["))
        for (position, delivery) in deliveries.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "{"))
            append(delivery, to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "]"))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Throws: ``StorageError`` with code `failed` for a text that this program did not write.
    static func decodeDeliveries(_ text: String) throws(StorageError) -> [Delivery] {
        guard let objects = try? JSONDecoder().decode([StoredDelivery].self, from: Data(text.utf8)) else {
            throw StorageError(.failed, "A notification's deliveries cannot be read.")
        }
        var deliveries: [Delivery] = []
        for object in objects {
            guard let state = DeliveryState(rawValue: object.s) else {
                throw StorageError(.failed, "A notification's deliveries contain an unknown state.")
            }
            let unanswered = object.u ?? 0
            guard countRange.contains(object.n), countRange.contains(unanswered) else {
                throw StorageError(.failed, "A notification's deliveries contain a number of attempts out of range.")
            }
            let shared = object.c.map { NotificationID($0) }
            if case .some(nil) = shared {
                throw StorageError(.failed, "A notification's deliveries contain an ID that cannot be read.")
            }
            deliveries.append(
                Delivery(
                    platform: Platform(rawValue: object.p), state: state, attempts: object.n, unanswered: unanswered,
                    hubMessageID: object.m, error: object.e,
                    updatedAt: try Timestamp(stored: object.t, column: "deliveries"),
                    coalescedInto: shared.flatMap(\.self), silentSequence: object.w,
                    isWithdrawnOnRead: state == .sent && object.r == 1, outcome: object.o))
        }
        return deliveries
    }

    /// The range of attempts: more than any dispatcher makes, and far from overflow.
    private static let countRange = 0...Int(Int32.max)

    private static func append(_ delivery: Delivery, to bytes: inout [UInt8]) {
        append(#""p":"#, delivery.platform.rawValue, to: &bytes)
        append(#","s":"#, delivery.state.rawValue, to: &bytes)
        let isOpen = delivery.outcome.map(MessageOutcome.isOpen) ?? false
        if let outcome = delivery.outcome, !isOpen { append(#","o":"#, outcome, to: &bytes) }
        append(#","n":"#, Int64(delivery.attempts), to: &bytes)
        if let outcome = delivery.outcome, isOpen { append(#","o":"#, outcome, to: &bytes) }
        if delivery.unanswered > 0 { append(#","u":"#, Int64(delivery.unanswered), to: &bytes) }
        if let id = delivery.hubMessageID { append(#","m":"#, id, to: &bytes) }
        if let error = delivery.error { append(#","e":"#, error, to: &bytes) }
        append(#","t":"#, delivery.updatedAt.milliseconds, to: &bytes)
        if let shared = delivery.coalescedInto { append(#","c":"#, shared.description, to: &bytes) }
        if let sequence = delivery.silentSequence { append(#","w":"#, sequence, to: &bytes) }
        if delivery.isWithdrawnOnRead, delivery.state == .sent {
            bytes.append(UInt8(ascii: ","))
            bytes.append(contentsOf: withdrawnOnRead.utf8)
        }
    }

    private static func append(_ name: StaticString, _ value: String, to bytes: inout [UInt8]) {
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        JSONText.append(value, to: &bytes)
    }

    private static func append(_ name: StaticString, _ value: Int64, to bytes: inout [UInt8]) {
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        JSONText.append(value, to: &bytes)
    }
}

extension Timestamp {
    /// The years 1970 to 9999: RFC 3339 can express them, and adding a configured duration cannot overflow.
    static let storedRange: ClosedRange<Int64> = 0...253_402_300_799_999

    /// Reads a stored time.
    ///
    /// - Throws: ``StorageError`` with code `failed` for a number that this program did not write.
    init(stored milliseconds: Int64, column: String) throws(StorageError) {
        guard Self.storedRange.contains(milliseconds) else {
            throw StorageError(.failed, "The column \(column) holds a time that cannot be read.")
        }
        self.init(milliseconds: milliseconds)
    }
}
