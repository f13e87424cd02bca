import NIOCore
import NIOPosix

/// Sends bytes over a connection of its own and reads the answers to them.
enum RawExchange {
    struct Answer: Sendable {
        var status = 0
        /// As written, in their order.
        var names: [String] = []
        /// Names in lower case.
        var headers: [String: String] = [:]
        var body = ""
    }

    struct BrokenAnswer: Error {
        let text: String
    }

    static func send(_ bytes: String, port: Int) async throws -> Answer {
        try await converse([bytes], answers: 1, port: port)[0]
    }

    /// Writes the pieces one after the other on one connection and reads so many answers.
    static func converse(_ pieces: [String], answers count: Int, port: Int) async throws -> [Answer] {
        let channel = try await connection(port: port)
        return try await channel.executeThenClose { inbound, outbound in
            for piece in pieces { try await outbound.write(ByteBuffer(string: piece)) }
            var received = ""
            var answers: [Answer] = []
            for try await buffer in inbound {
                received += String(buffer: buffer)
                while let (answer, rest) = parse(received[...]) {
                    answers.append(answer)
                    received = String(rest)
                }
                if answers.count >= count { return answers }
            }
            throw BrokenAnswer(text: received)
        }
    }

    /// Sends bytes and gives all that comes until the server closes the connection.
    static func everything(_ bytes: String, port: Int) async throws -> String {
        try await connection(port: port).executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: bytes))
            var received = ""
            for try await buffer in inbound { received += String(buffer: buffer) }
            return received
        }
    }

    /// Sends each piece only after the answer to the one before began as told, and gives what came after each.
    static func stepwise(_ pieces: [String], until starts: [String], port: Int) async throws -> [String] {
        try await connection(port: port).executeThenClose { inbound, outbound in
            var answers: [String] = []
            var iterator = inbound.makeAsyncIterator()
            for (piece, start) in zip(pieces, starts) {
                try await outbound.write(ByteBuffer(string: piece))
                var received = ""
                while !received.hasPrefix(start) {
                    guard let buffer = try await iterator.next() else { throw BrokenAnswer(text: received) }
                    received += String(buffer: buffer)
                    guard start.hasPrefix(received) || received.hasPrefix(start) else {
                        throw BrokenAnswer(text: received)
                    }
                }
                answers.append(received)
            }
            return answers
        }
    }

    static func connection(port: Int) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// Nil until the answer is whole; 1xx are passed over.
    private static func parse(_ text: Substring) -> (answer: Answer, rest: Substring)? {
        // Lines end in one character, "\r\n", to Swift.
        guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
        var answer = Answer()
        let lines = text[..<end.lowerBound].split(separator: "\r\n")
        answer.status = lines.first.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            answer.names.append(String(line[..<colon]))
            answer.headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        let rest = text[end.upperBound...]
        if (100..<200).contains(answer.status) { return parse(rest) }
        if answer.headers["transfer-encoding"] == "chunked" {
            guard let body = unchunked(rest) else { return nil }
            answer.body = body
            return (answer, "")
        }
        let length = answer.headers["content-length"].flatMap { Int($0) } ?? 0
        guard rest.utf8.count >= length else { return nil }
        let bodyEnd = rest.utf8.index(rest.startIndex, offsetBy: length)
        answer.body = String(rest[..<bodyEnd])
        return (answer, rest[bodyEnd...])
    }

    private static func unchunked(_ text: Substring) -> String? {
        var bytes = Array(text.utf8)[...]
        var body: [UInt8] = []
        while let lineEnd = bytes.firstIndex(of: 0x0A) {
            let digits = String(decoding: bytes[..<lineEnd], as: UTF8.self).prefix { $0.isHexDigit }
            guard let length = Int(digits, radix: 16) else { return nil }
            if length == 0 { return String(decoding: body, as: UTF8.self) }
            guard bytes.distance(from: lineEnd, to: bytes.endIndex) > length + 2 else { return nil }
            body += bytes[(lineEnd + 1)...].prefix(length)
            bytes = bytes[(lineEnd + 1 + length + 2)...]
        }
        return nil
    }
}
