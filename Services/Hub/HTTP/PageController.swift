import HTTPTypes
import Hummingbird
import NIOCore
import ServiceRuntime

/// `/`: the page that shows the hub's requests beside the display of each device, and its files at `/emulator/page/`.
///
/// Its content security policy allows only scripts of this server, and connections to this server.
///
/// With a shared access signature `/` is the hub's API instead: .NET lists the hubs of a namespace there.
struct PageController: Sendable {
    private static let index = PackageResources.index_html
    /// The files of the page by their names.
    static let files: [String: [UInt8]] = [
        "style.css": PackageResources.style_css,
        "emulator.js": PackageResources.emulator_js,
        "cards.js": PackageResources.cards_js,
        "connection.js": PackageResources.connection_js,
        "controls.js": PackageResources.controls_js,
        "devices.js": PackageResources.devices_js,
        "dom.js": PageKit.dom,
        "faults.js": PackageResources.faults_js,
        "news.js": PackageResources.news_js,
        "state.js": PackageResources.state_js,
        "text.js": PackageResources.text_js,
    ]
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
        + "form-action 'none'; frame-ancestors 'none'"

    let hosts: HostAllowList
    let hubs: HubController
    /// Whether there is a page for the client of a request.
    let isShown: @Sendable (Request, EmulatorContext) -> Bool

    func addRoutes(to router: Router<EmulatorContext>) {
        // Browsers ask for it by themselves; as the name of a hub it would need a token.
        router.get("favicon.ico") { _, _ in
            Response(status: .noContent, headers: [.cacheControl: "public, max-age=86400"])
        }
        router.get("/") { request, context in
            guard request.headers[.authorization] == nil, isShown(request, context) else {
                return try await HubErrorMiddleware().handle(request, context: context) { request, context in
                    try await hubs.listAtRoot(request, context: context)
                }
            }
            try hosts.check(request)
            return Self.answer("text/html", Self.index)
        }
    }

    /// - Parameter emulator: the routes that check the host and the origin.
    func addFiles(to emulator: RouterGroup<EmulatorContext>) {
        for (name, content) in Self.files {
            let type = name.hasSuffix(".css") ? "text/css" : "text/javascript"
            emulator.get("page/\(name)") { _, _ in Self.answer(type, content) }
        }
    }

    private static func answer(_ type: String, _ content: [UInt8]) -> Response {
        let headers: HTTPFields = [
            .contentType: "\(type); charset=utf-8",
            .contentSecurityPolicy: policy,
            .xContentTypeOptions: "nosniff",
            HTTPField.Name(static: "Referrer-Policy"): "no-referrer",
            .cacheControl: "no-cache",
        ]
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: content)))
    }
}
