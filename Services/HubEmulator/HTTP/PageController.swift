import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceRuntime

/// `/`: the page that shows the hub's requests beside the display of each device.
///
/// The page is one document with its style and script inside. The policy names both by their hashes, so that no other
/// script can run in the page, and the page can reach this server only.
///
/// With a shared access signature `/` is the hub's API instead: .NET lists the hubs of a namespace there.
struct PageController: Sendable {
    /// The page with its style and scripts inserted.
    static let page: [UInt8] = {
        let style = String(decoding: PackageResources.style_css, as: UTF8.self)
        let scripts = [
            PackageResources.script_js, PackageResources.cards_js, PackageResources.devices_js,
            PackageResources.faults_js, PackageResources.connection_js, PackageResources.controls_js,
        ]
        let script = scripts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
        let page = String(decoding: PackageResources.index_html, as: UTF8.self)
            .replacing("/* style.css */", with: "\n" + style).replacing("/* script.js */", with: "\n" + script)
        return Array(page.utf8)
    }()

    private let hosts: HostAllowList
    private let hubs: HubController
    private let headers: HTTPFields

    init(hosts: HostAllowList, hubs: HubController) {
        self.hosts = hosts
        self.hubs = hubs
        let text = String(decoding: Self.page, as: UTF8.self)
        headers = [
            .contentType: "text/html; charset=utf-8",
            .contentSecurityPolicy: Self.policy(for: text),
            .xContentTypeOptions: "nosniff",
            HTTPField.Name(static: "Referrer-Policy"): "no-referrer",
            .cacheControl: "no-cache",
        ]
    }

    func addRoutes(to router: Router<EmulatorContext>) {
        router.get("/") { request, context in
            guard request.headers[.authorization] == nil else {
                return try await HubErrorMiddleware().handle(request, context: context) { request, context in
                    try await hubs.listAtRoot(request, context: context)
                }
            }
            try hosts.check(request)
            return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: Self.page)))
        }
    }

    private static func policy(for page: String) -> String {
        "default-src 'none'; script-src \(hashes(of: "script", in: page)); style-src \(hashes(of: "style", in: page)); "
            + "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }

    /// The hashes of the contents of all elements of a name (CSP Level 3, 2.3.1).
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
