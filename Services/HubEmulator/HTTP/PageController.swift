import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// `/`: the page that shows side by side what crossed the hub and what each device shows.
///
/// The page is one document with its style and script inside. The policy names both by their hashes, so that nothing
/// else in the page could ever run, and nothing but this server can be reached from it.
///
/// With a shared access signature `/` is the hub's API instead: .NET lists the hubs of a namespace there.
struct PageController: Sendable {
    private let hosts: HostAllowList
    private let administration: HubController
    private let page: ByteBuffer
    private let headers: HTTPFields

    init(hosts: HostAllowList, administration: HubController, page: [UInt8] = PageDocument.bytes) {
        self.hosts = hosts
        self.administration = administration
        self.page = ByteBuffer(bytes: page)
        let text = String(decoding: page, as: UTF8.self)
        headers = [
            .contentType: "text/html; charset=utf-8",
            .contentSecurityPolicy: Self.policy(for: text),
            .xContentTypeOptions: "nosniff",
            HubHeaders.name("Referrer-Policy"): "no-referrer",
            .cacheControl: "no-cache",
        ]
    }

    func addRoutes(to router: Router<EmulatorContext>) {
        router.get("/") { request, context in
            guard request.headers[.authorization] == nil else {
                return try await HubErrorMiddleware().handle(request, context: context) { request, context in
                    try await administration.listAtRoot(request, context: context)
                }
            }
            try hosts.check(request)
            return Response(status: .ok, headers: headers, body: .init(byteBuffer: page))
        }
    }

    private static func policy(for page: String) -> String {
        "default-src 'none'; script-src \(hashes(of: "script", in: page)); style-src \(hashes(of: "style", in: page)); "
            + "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }

    /// The hashes of what stands inside all elements of a name (CSP Level 3, 2.3.1).
    private static func hashes(of element: String, in page: String) -> String {
        var hashes: [String] = []
        var rest = page[...]
        while let open = rest.firstRange(of: "<\(element)>"), let close = rest.firstRange(of: "</\(element)>") {
            let digest = SHA256.hash(data: Data(rest[open.upperBound..<close.lowerBound].utf8))
            hashes.append("'sha256-\(Data(digest).base64EncodedString())'")
            rest = rest[close.upperBound...]
        }
        return hashes.isEmpty ? "'none'" : hashes.joined(separator: " ")
    }
}
