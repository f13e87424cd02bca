import Foundation
import Foundations
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceRuntime

/// `/emulator/app/`: the files of a web app, when `EMULATOR_WEB_APP` names their folder.
///
/// The app is then of the emulator's own origin, so its page can listen to the device stream, which pages of other
/// origins must not. A service worker needs `localhost` or HTTPS, and the emulator has both.
struct WebAppController: Sendable {
    private static let prefix = "/emulator/app/"
    /// Larger files are not served, in bytes.
    private static let maxFileSize = 4 * 1024 * 1024

    private let folder: URL
    private let headers: HTTPFields

    /// - Parameter folder: the folder. Its file `_headers` has the header fields of all responses.
    init(folder: String) {
        self.folder = URL(fileURLWithPath: folder, isDirectory: true)
        let text = try? String(contentsOf: self.folder.appendingPathComponent("_headers"), encoding: .utf8)
        headers = Self.headers(in: text ?? "")
    }

    func addRoutes(to emulator: RouterGroup<EmulatorContext>) {
        // The router takes both spellings for one path; relative addresses in the page need the slash.
        emulator.get("app") { request, _ in
            guard request.uri.path.hasSuffix("/") else {
                return Response(status: .permanentRedirect, headers: [.location: Self.prefix])
            }
            return try file(at: request.uri.path)
        }
        emulator.get("app/**") { request, _ in try file(at: request.uri.path) }
    }

    /// - Throws: 404.
    private func file(at path: String) throws(Problem) -> Response {
        let name = path.hasSuffix("/") ? path + "index.html" : path
        let parts = name.dropFirst(Self.prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy(Self.isName) else { throw Problem.notFound() }
        let url = parts.reduce(folder) { $0.appendingPathComponent(String($1)) }
        guard let values = try? url.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey]),
            values.isRegularFile == true, let size = values.fileSize, size <= Self.maxFileSize,
            let content = try? Data(contentsOf: url)
        else { throw Problem.notFound() }
        var headers = headers
        headers[.contentType] = Self.contentTypes[url.pathExtension] ?? "application/octet-stream"
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: content)))
    }

    private static let nameBytes = ByteSet.alphanumerics.union(ByteSet("-."))

    /// A plain name: neither hidden nor a way out of the folder.
    private static func isName(_ part: Substring) -> Bool {
        !part.isEmpty && !part.hasPrefix(".") && nameBytes.containsAll(part)
    }

    /// The header fields of the rule `/*` in a file of the form that Netlify and Cloudflare Pages use. Other rules are
    /// skipped.
    static func headers(in text: String) -> HTTPFields {
        var fields: HTTPFields = [.xContentTypeOptions: "nosniff", .cacheControl: "no-cache"]
        var isForAll = false
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            guard line.first?.isWhitespace == true else {
                isForAll = line == "/*"
                continue
            }
            guard isForAll, let colon = line.firstIndex(of: ":"),
                let name = HTTPField.Name(line[..<colon].trimmingCharacters(in: .whitespaces))
            else { continue }
            fields[name] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        return fields
    }

    private static let contentTypes = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "json": "application/json", "webmanifest": "application/manifest+json", "svg": "image/svg+xml",
        "png": "image/png", "ico": "image/x-icon",
    ]
}
