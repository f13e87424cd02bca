import Foundations

/// A parser for streams of server-sent events (WHATWG HTML, 9.2.6), fed in chunks of any size.
struct ServerSentEvents: Sendable {
    struct Event: Sendable, Equatable {
        /// `message` if the stream gives no name.
        var name: String
        var data: String
    }

    private var line: [UInt8] = []
    private var lastWasReturn = false
    private var name = ""
    private var data: [String] = []

    /// Parses the next bytes and returns the events that they complete.
    mutating func feed(_ bytes: some Sequence<UInt8>) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            // CR, LF and CRLF each end a line.
            if byte == UInt8(ascii: "\n") && lastWasReturn {
                lastWasReturn = false
                continue
            }
            lastWasReturn = byte == UInt8(ascii: "\r")
            if byte == UInt8(ascii: "\n") || lastWasReturn {
                if let event = take(String(decoding: line, as: UTF8.self)) { events.append(event) }
                line.removeAll(keepingCapacity: true)
            } else {
                line.append(byte)
            }
        }
        return events
    }

    private mutating func take(_ line: String) -> Event? {
        if line.isEmpty { return dispatch() }
        let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == " " { value.removeFirst() }
        switch line[..<colon] {
        case "event": name = String(value)
        case "data": data.append(String(value))
        default: break  // comments, `id` and `retry`
        }
        return nil
    }

    private mutating func dispatch() -> Event? {
        defer {
            name = ""
            data = []
        }
        guard !data.isEmpty else { return nil }
        return Event(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"))
    }
}

/// The emulator's event for a push: `event: notification`, with the native body in the member `Body`.
enum PushEvent {
    /// The native body; `nil` for other events.
    static func body(of event: ServerSentEvents.Event) -> String? {
        event.name == "notification" ? JSONValue(text: event.data)?["Body"]?.text : nil
    }
}
