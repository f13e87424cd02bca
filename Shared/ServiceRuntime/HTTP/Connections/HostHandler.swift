import Domain
import Foundations
import NIOCore
import NIOHTTP1

/// Refuses an HTTP/1.1 request that does not have exactly one valid `Host` (RFC 9112, 3.2), in the way in which the
/// parser refuses invalid HTTP. Its place is before the codec, which keeps only one `Host`.
final class HostHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Whether a request was refused. Nothing after it is read.
    private(set) var isRefused = false

    /// The characters of `uri-host [ ":" port ]` (RFC 3986, 3.2.2).
    static let allowed = ByteSet.unreserved.union(ByteSet("!$&'()*+,;=:[]%"))

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
            guard allowed.containsAll(value) else { return false }
        }
        return count == 1 || (count == 0 && head.version.minor == 0)
    }
}
