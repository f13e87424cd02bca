import HTTPTypes
import Hummingbird
import NIOCore
import ServiceRuntime

/// The files of the page. They hold no figures: the page asks the API for them.
enum PageFiles {
    /// By path.
    private static let files: [String: (type: String, bytes: [UInt8])] = [
        "/operator.css": ("text/css", PackageResources.operator_css),
        "/operator.js": (script, PackageResources.operator_js),
        "/app.js": (script, PackageResources.app_js),
        "/actions.js": (script, PackageResources.actions_js),
        "/api.js": (script, PackageResources.api_js),
        "/charts.js": (script, PackageResources.charts_js),
        "/dead-letters.js": (script, PackageResources.dead_letters_js),
        "/dom.js": (script, PageKit.dom),
        "/format.js": (script, PackageResources.format_js),
        "/notification.js": (script, PackageResources.notification_js),
        "/overview.js": (script, PackageResources.overview_js),
        "/search.js": (script, PackageResources.search_js),
        "/icon-good.svg": (icon, PackageResources.icon_good_svg),
        "/icon-warn.svg": (icon, PackageResources.icon_warn_svg),
        "/icon-bad.svg": (icon, PackageResources.icon_bad_svg),
    ]

    private static let script = "text/javascript"
    private static let icon = "image/svg+xml"
    private static let index = ByteBuffer(bytes: PackageResources.index_html)

    /// The addresses of the page. Its script shows the view of each.
    private static let addresses: [RouterPath] = ["/", "/dead-letters", "/search", "/notifications/:id"]

    static func routes<Context: RequestContext>() -> [Route<Context>] {
        addresses.map { Route(.get, $0) { _, _ in page(.ok) } }
            + files.map { path, file in
                let body = ByteBuffer(bytes: file.bytes)
                return Route(.get, RouterPath(path)) { _, _ in answer(.ok, file.type, body) }
            }
    }

    static func page(_ status: HTTPResponse.Status) -> Response { answer(status, "text/html", index) }

    private static func answer(_ status: HTTPResponse.Status, _ type: String, _ body: ByteBuffer) -> Response {
        Response(
            status: status, headers: [.contentType: "\(type); charset=utf-8"], body: ResponseBody(byteBuffer: body))
    }
}
