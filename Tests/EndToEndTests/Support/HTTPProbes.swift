import Foundation
import StackKit
import Testing

/// An HTTP client that is not ours. Each prints the status of the answer and then its body.
enum HTTPProbe: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case curlHTTP10, curlHTTP11, curlHTTP2, pythonHTTP10, pythonHTTP11, rawSocket, javaHTTP11, javaHTTP2

    struct Answer: Equatable, Sendable {
        var status: Int
        var body: String
    }

    var testDescription: String { rawValue }

    var isJava: Bool { self == .javaHTTP11 || self == .javaHTTP2 }

    /// Java is a large runtime, which a machine need not have.
    static let available = allCases.filter {
        !$0.isJava || FileManager.default.isExecutableFile(atPath: "/usr/bin/java")
    }

    /// The old versions without TLS, HTTP/2 with it, and the rest with both.
    func isFor(TLS isTLS: Bool) -> Bool {
        switch self {
        case .curlHTTP10, .pythonHTTP10, .javaHTTP11: !isTLS
        case .curlHTTP2, .javaHTTP2: isTLS
        case .curlHTTP11, .pythonHTTP11, .rawSocket: true
        }
    }

    /// Sends one request and waits for the whole answer.
    ///
    /// - Parameter headers: `Name: value`.
    func send(
        _ method: String, _ url: String, headers: [String] = [], body: String? = nil, in folder: URL
    ) async throws -> Answer {
        let output: String
        switch self {
        case .curlHTTP10: output = try await curl("--http1.0", method, url, headers, body)
        case .curlHTTP11: output = try await curl("--http1.1", method, url, headers, body)
        case .curlHTTP2: output = try await curl("--http2", method, url, headers, body)
        case .pythonHTTP10, .pythonHTTP11, .rawSocket:
            let file = folder.appending(path: "probe.py")
            try Data(Self.python.utf8).write(to: file)
            output = try await run("python3", [file.path, rawValue, method, url, body ?? ""] + headers)
        case .javaHTTP11, .javaHTTP2:
            // Compiled once: that takes longer than all requests.
            if !FileManager.default.fileExists(atPath: folder.appending(path: "Probe.class").path) {
                let file = folder.appending(path: "Probe.java")
                try Data(Self.java.utf8).write(to: file)
                let compiler = "jdk.compiler/com.sun.tools.javac.Main"
                try await run("java", ["-m", compiler, "-d", folder.path, file.path])
            }
            let options = ["-Djdk.internal.httpclient.disableHostnameVerification=true", "-cp", folder.path, "Probe"]
            output = try await run("java", options + [rawValue, method, url, body ?? ""] + headers)
        }
        let lines = output.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        return Answer(status: Int(lines[0]) ?? 0, body: lines.count > 1 ? String(lines[1]) : "")
    }

    private func curl(
        _ version: String, _ method: String, _ url: String, _ headers: [String], _ body: String?
    ) async throws -> String {
        let options = headers.flatMap { ["-H", $0] } + (body.map { ["--data-binary", $0] } ?? [])
        let output = try await run(
            "curl",
            ["-qsk", "--noproxy", "*", "--max-time", "180", version, "-X", method, "-w", "\n%{http_code}"]
                + (method == "HEAD" ? ["-I", "-o", "/dev/null"] : []) + options + [url])
        let end = output.lastIndex(of: "\n") ?? output.startIndex
        return output[end...].dropFirst() + "\n" + output[..<end]
    }

    /// `rawSocket` sends the head, waits for the 100 where it asks for one, and reads to the end of the connection.
    private static let python = """
        import http.client, socket, ssl, sys, urllib.parse
        client, method, url, body, headers = *sys.argv[1:5], sys.argv[5:]
        parts, context = urllib.parse.urlsplit(url), ssl._create_unverified_context()
        target = parts.path + ("?" + parts.query if parts.query else "")
        fields = dict(header.split(": ", 1) for header in headers)
        if client == "rawSocket":
            plain = socket.create_connection((parts.hostname, parts.port), 60)
            connection = context.wrap_socket(plain) if parts.scheme == "https" else plain
            lines = [f"{method} {target} HTTP/1.1", f"Host: {parts.netloc}", "Connection: Close"]
            lines += headers + ([f"Content-Length: {len(body.encode())}"] if body else [])
            connection.sendall(("\\r\\n".join(lines) + "\\r\\n\\r\\n").encode())
            answer = b""
            if "Expect" in fields:
                while b"\\r\\n\\r\\n" not in answer: answer += connection.recv(65536)
                if answer.startswith(b"HTTP/1.1 100"): answer = answer.split(b"\\r\\n\\r\\n", 1)[1]
                else: body = ""
            connection.sendall(body.encode())
            while part := connection.recv(65536): answer += part
            head, content = answer.split(b"\\r\\n\\r\\n", 1)
            if b"transfer-encoding: chunked" in head.lower():
                rest, content = content, b""
                while size := int(rest.split(b"\\r\\n", 1)[0], 16):
                    rest = rest.split(b"\\r\\n", 1)[1]
                    content, rest = content + rest[:size], rest[size + 2:]
            print(head.split()[1].decode(), content.decode(errors="replace"), sep="\\n", end="")
        else:
            kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
            options = {"context": context} if parts.scheme == "https" else {}
            connection = kind(parts.hostname, parts.port, timeout=60, **options)
            if client == "pythonHTTP10": connection._http_vsn, connection._http_vsn_str = 10, "HTTP/1.0"
            connection.request(method, target, body.encode() if body else None, fields)
            answer = connection.getresponse()
            print(answer.status, answer.read().decode(errors="replace"), sep="\\n", end="")
        """

    private static let java = """
        import java.net.URI; import java.net.http.*; import java.security.cert.X509Certificate;
        import java.time.Duration; import javax.net.ssl.*;
        class Probe {
            public static void main(String[] words) throws Exception {
                var all = new X509TrustManager() {
                    public void checkClientTrusted(X509Certificate[] chain, String type) {}
                    public void checkServerTrusted(X509Certificate[] chain, String type) {}
                    public X509Certificate[] getAcceptedIssuers() { return new X509Certificate[0]; } };
                var tls = SSLContext.getInstance("TLS");
                tls.init(null, new TrustManager[] { all }, null);
                var version = words[0].endsWith("HTTP2") ? HttpClient.Version.HTTP_2 : HttpClient.Version.HTTP_1_1;
                var client = HttpClient.newBuilder().sslContext(tls).version(version).build();
                var body = words[3].isEmpty() ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(words[3]);
                var request = HttpRequest.newBuilder(URI.create(words[2])).timeout(Duration.ofSeconds(60))
                    .method(words[1], body);
                for (int place = 4; place < words.length; place++) {
                    var field = words[place].split(": ", 2);
                    if (field[0].equals("Expect")) request.expectContinue(true);
                    else request.header(field[0], field[1]);
                }
                var answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
                System.out.print(answer.statusCode() + "\\n" + answer.body());
            }
        }
        """
}
