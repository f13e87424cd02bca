/// The target of a plain send: `/{hub}/messages`, in any case and with a `/` at its end, with no query but a version.
///
/// Whatever holds an escape or another parameter is left to the routes.
struct FastSendTarget: Equatable {
    /// As written.
    let hub: String
    let path: String
    let query: String?

    /// - Parameter reserved: first segments of paths that are no hubs, in lower case.
    init?(_ target: String, reserved: Set<String>) {
        let bytes = target.utf8
        guard bytes.first == UInt8(ascii: "/") else { return nil }
        let hubStart = bytes.index(after: bytes.startIndex)
        guard let slash = bytes[hubStart...].firstIndex(of: UInt8(ascii: "/")), slash > hubStart,
            bytes[hubStart..<slash].allSatisfy(Self.isPlain)
        else { return nil }
        let pathEnd = bytes[slash...].firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        var operation = bytes[bytes.index(after: slash)..<pathEnd]
        if operation.last == UInt8(ascii: "/") { operation.removeLast() }
        guard operation.elementsEqual("messages".utf8, by: { $0 | 0x20 == $1 }) else { return nil }
        if pathEnd < bytes.endIndex {
            let rest = bytes[bytes.index(after: pathEnd)...]
            let name = "api-version="
            guard rest.starts(with: name.utf8), rest.dropFirst(name.utf8.count).allSatisfy(Self.isPlain) else {
                return nil
            }
            query = String(Substring(rest))
        } else {
            query = nil
        }
        hub = String(Substring(bytes[hubStart..<slash]))
        path = String(Substring(bytes[..<pathEnd]))
        guard !reserved.contains(hub.lowercased()) else { return nil }
    }

    /// Letters, digits and `-`, `.`, `_`: what means the same with and without decoding.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
