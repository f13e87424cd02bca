import Authentication
import Foundations
import HTTPTypes
import Hummingbird
import Mustache
import NIOCore
import ServiceRuntime

/// The operator's page as HTML: `/`, `/dead-letters` and `/notifications/{id}`, and its style and script.
///
/// The server renders everything. The script fetches the same page every few seconds and replaces the sections that
/// have changed, so there is one way from figures to HTML, and the page can be read without the script.
struct AdminPage: Sendable {
    let controller: AdminController
    private let templates: MustacheLibrary
    private let styleSheet = ByteBuffer(bytes: PackageResources.operator_css)
    private let scriptText = ByteBuffer(bytes: PackageResources.operator_js)

    /// - Throws: an error of a template, which only a mistake in it can cause.
    init(controller: AdminController) throws {
        self.controller = controller
        var templates = MustacheLibrary()
        let files: [(String, [UInt8])] = [
            ("overview", PackageResources.overview_mustache), ("layout-top", PackageResources.layout_top_mustache),
            ("layout-end", PackageResources.layout_end_mustache),
            ("dead-letters", PackageResources.dead_letters_mustache),
            ("notification", PackageResources.notification_mustache),
        ]
        MustacheContentTypes.register(ScalarHTML(), named: ScalarHTML.name)
        for (name, text) in files {
            // Each template says so itself: one that is included begins with the library's own escaping again.
            let template = "{{% CONTENT_TYPE:\(ScalarHTML.name)}}\n" + String(decoding: text, as: UTF8.self)
            try templates.register(template, named: name)
        }
        self.templates = templates
    }

    @Sendable func overview(_ request: Request, context: some RequestContext) async throws -> Response {
        var query = QueryParameters(request.uri.query, known: ["Window"])
        let window = query.takeWindow()
        try query.check()
        async let failing = controller.source.failures(window, in: controller.directory)
        let overview = await controller.source.overview(window)
        return try render("overview", OverviewView(overview, failures: await failing, window: window))
    }

    @Sendable func deadLetters(_ request: Request, context: some RequestContext) async throws -> Response {
        let report = try await AdminController.broker {
            try await controller.actions.deadLetters(limit: AdminActions.maxListed)
        }
        return try render("dead-letters", DeadLettersView(report))
    }

    @Sendable func notification(_ request: Request, context: some RequestContext) async throws -> Response {
        try render("notification", TimelineView(try await controller.timeline(context)))
    }

    @Sendable func style(_ request: Request, context: some RequestContext) -> Response {
        Self.file(styleSheet, "text/css; charset=utf-8")
    }

    @Sendable func script(_ request: Request, context: some RequestContext) -> Response {
        Self.file(scriptText, "text/javascript; charset=utf-8")
    }

    private func render(_ name: String, _ view: some Sendable) throws -> Response {
        guard let html = templates.render(view, withTemplate: name) else { throw Problem.internalServerError() }
        return Self.file(ByteBuffer(string: html), "text/html; charset=utf-8")
    }

    private static func file(_ content: ByteBuffer, _ type: String) -> Response {
        Response(status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: content))
    }
}

/// Escapes the values of templates. The library's own escaping goes by character and leaves the `<` of "\u{600}<".
private struct ScalarHTML: MustacheContentType {
    static let name = "SCALAR_HTML"

    func escapeText(_ text: String) -> String { HTMLText.escape(text) }
}
