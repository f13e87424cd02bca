import Foundation
import SecurePushCore

/// The text in which the stores keep a notification's deliveries: a JSON array of small objects, such as
/// `[{"p":"apple","s":"sent","n":1,"t":1790000000000}]`.
///
/// `p` platform, `s` state, `n` attempts, `u` those of them without an answer, `m` the hub's message ID, `o` its
/// outcome, `e` the last error, `t` the time of the last change in milliseconds; what is `nil` is left out. Written by
/// hand because every dispatched notification pays for it; read by `JSONDecoder` because only redelivered ones do.
enum DeliveriesCoding {
    private struct Object: Decodable {
        let p: String
        let s: String
        let n: Int
        let u: Int?
        let m: String?
        let o: String?
        let e: String?
        let t: Int64
    }

    /// The attempts that are read of a text; more were never made, and they are counted on from what is read.
    private static let maxAttempts = 1_000_000

    static func encode(_ deliveries: [Delivery]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16 + deliveries.count * 160)
        bytes.append(UInt8(ascii: "["))
        for (position, delivery) in deliveries.enumerated() {
            bytes.append(contentsOf: (position == 0 ? "{" : ",{").utf8)
            append(delivery, to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "]"))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Throws: ``StorageError`` with code `failed` for a text that this program did not write.
    static func decode(_ text: String) throws(StorageError) -> [Delivery] {
        guard let objects = try? JSONDecoder().decode([Object].self, from: Data(text.utf8)) else {
            throw StorageError(.failed, "A notification's deliveries cannot be read.")
        }
        var deliveries: [Delivery] = []
        for object in objects {
            guard let state = DeliveryState(rawValue: object.s) else {
                throw StorageError(.failed, "A notification's deliveries hold an unknown state.")
            }
            deliveries.append(
                Delivery(
                    platform: Platform(rawValue: object.p), state: state,
                    attempts: min(max(0, object.n), maxAttempts),
                    unanswered: min(max(0, object.u ?? 0), maxAttempts), hubMessageID: object.m, outcome: object.o,
                    error: object.e,
                    updatedAt: Timestamp(milliseconds: object.t)))
        }
        return deliveries
    }

    private static func append(_ delivery: Delivery, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: #""p":"#.utf8)
        JSONText.append(delivery.platform.rawValue, to: &bytes)
        bytes.append(contentsOf: #","s":"#.utf8)
        JSONText.append(delivery.state.rawValue, to: &bytes)
        bytes.append(contentsOf: #","n":"#.utf8)
        appendNumber(delivery.attempts, to: &bytes)
        if delivery.unanswered > 0 {
            bytes.append(contentsOf: #","u":"#.utf8)
            appendNumber(delivery.unanswered, to: &bytes)
        }
        for (key, value) in [("m", delivery.hubMessageID), ("o", delivery.outcome), ("e", delivery.error)] {
            guard let value else { continue }
            bytes.append(contentsOf: #",""#.utf8)
            bytes.append(contentsOf: key.utf8)
            bytes.append(contentsOf: #"":"#.utf8)
            JSONText.append(value, to: &bytes)
        }
        bytes.append(contentsOf: #","t":"#.utf8)
        appendNumber(delivery.updatedAt.milliseconds, to: &bytes)
    }

    private static func appendNumber(_ number: some BinaryInteger, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: String(number).utf8)
    }
}
