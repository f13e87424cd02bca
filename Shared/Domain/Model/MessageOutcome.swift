import Foundations

/// What the push services made of one message, as the hub's telemetry reports it (Azure: "Get notification message
/// telemetry"), or the `SecurePush-Outcome` of an answer of SecurePush's own hub.
package struct MessageOutcome: Sendable, Hashable {
    /// The hub's word for a state (`NoTargetFound`), or for the result at one or more devices (`Success`).
    package struct Count: Sendable, Hashable {
        /// The hub's word: 1 to ``maxName`` ASCII letters, digits and underscores.
        package var name: String
        /// The number of devices, at least 1.
        package var devices: Int

        package init(name: String, devices: Int) {
            self.name = name
            self.devices = devices
        }
    }

    /// The longest word that is kept.
    package static let maxName = 64
    /// The longest ``text``, in bytes.
    package static let maxText = 200

    /// The results at devices; empty if the hub reports none.
    package var counts: [Count]
    /// `Success`; with several devices `Success=2, BadChannel=1`. Successes come first, and the others in the order of
    /// their names. Words that do not fit into ``maxText`` are left out. It is what a sender sees
    /// (``Delivery/outcome``).
    package let text: String

    /// An outcome without a device: the hub's word for the state of the message.
    package init(state: String) {
        counts = []
        text = String(state.prefix(Self.maxName))
    }

    /// The outcome of a message that reached devices; `nil` without any.
    package init?(_ devices: [String: Int]) {
        counts = devices.filter { $0.value > 0 }.map { Count(name: $0.key, devices: $0.value) }
            .sorted { ($0.isSuccess ? 0 : 1, $0.name) < ($1.isSuccess ? 0 : 1, $1.name) }
        guard let first = counts.first else { return nil }
        if counts.count == 1, first.devices == 1 {
            text = first.name
            return
        }
        var text = ""
        for count in counts {
            let part = (text.isEmpty ? "" : ", ") + "\(count.name)=\(count.devices)"
            if text.utf8.count + part.utf8.count > Self.maxText { break }
            text += part
        }
        self.text = text
    }

    /// Whether a word is one that the hub could have meant.
    package static func isName(_ text: some StringProtocol) -> Bool {
        (1...maxName).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

extension MessageOutcome {
    /// The word for devices whose push is still under way. Azure has no such word.
    package static let unknown = "Unknown"

    /// Reads the form of ``text``, such as `Success=2, BadChannel=1`.
    ///
    /// - Returns: `nil` for a text that this program does not write.
    package init?(text: String) {
        guard text.utf8.count <= Self.maxText else { return nil }
        var devices: [String: Int] = [:]
        for part in text.utf8.split(separator: UInt8(ascii: ",")) {
            let fields = Substring(part).drop { $0 == " " }.split(separator: "=", omittingEmptySubsequences: false)
            guard let name = fields.first, Self.isName(name), fields.count <= 2, devices[String(name)] == nil,
                let count = fields.count == 2 ? Int32(fields[1]) : 1, count > 0
            else { return nil }
            devices[String(name)] = Int(count)
        }
        if devices["NoTargetFound"] != nil, devices.count == 1 {
            self.init(state: "NoTargetFound")
        } else {
            self.init(devices)
        }
    }

    /// Whether a ``text`` says that pushes are still under way, so that the outcome will change.
    package static func isOpen(_ text: String) -> Bool {
        text == unknown || text.hasPrefix("\(unknown)=") || text.contains(", \(unknown)=")
    }
}

extension MessageOutcome.Count {
    fileprivate var isSuccess: Bool { name == "Success" }
}
