import NIOCore
import NIOHTTP1

/// Refuses a request by HTTP/1.1 without `Host`, with two, or with one that is no host (RFC 9112, 3.2): as the parser
/// refuses what it cannot read. It stands before the codec, which keeps only one of them.
final class HostHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Whether a request was refused; nothing after it is read.
    private(set) var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isRefused { return }
        if case .head(let head) = unwrapInboundIn(data), !Self.isValid(head) {
            isRefused = true
            return context.fireErrorCaught(HTTPParserError.unknown)
        }
        context.fireChannelRead(data)
    }

    private static func isValid(_ head: HTTPRequestHead) -> Bool {
        var count = 0
        for (name, value) in head.headers where name.utf8.count == 4 && name.lowercased() == "host" {
            count += 1
            guard value.utf8.allSatisfy(isAllowed) else { return false }
        }
        return count == 1 || (count == 0 && head.version.minor == 0)
    }

    /// What `uri-host [ ":" port ]` is made of (RFC 3986, 3.2.2).
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~!$&'()*+,;=:[]%".utf8.contains(byte)
        }
    }
}
