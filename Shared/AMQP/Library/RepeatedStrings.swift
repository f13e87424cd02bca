import CRabbitMQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Strings that are the same in one message after another (exchange, routing key, content type), made once.
struct RepeatedStrings {
    private var known: [String] = []
    private var next = 0

    mutating func string(_ bytes: amqp_bytes_t) -> String {
        let bytes = UnsafeRawBufferPointer(bytes)
        guard let start = bytes.baseAddress, bytes.count > 0 else { return "" }
        for candidate in known where candidate.utf8.count == bytes.count {
            let isSame = candidate.utf8.withContiguousStorageIfAvailable { utf8 in
                utf8.baseAddress.map { memcmp($0, start, bytes.count) == 0 } ?? false
            }
            if isSame == true { return candidate }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        if known.count < 8 { known.append(text) } else { known[next] = text }
        next = (next + 1) & 7
        return text
    }
}
