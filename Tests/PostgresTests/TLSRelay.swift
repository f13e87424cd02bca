import Foundation
import StackKit
import TestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A TLS front of a PostgreSQL server that sends what comes in full records of 16 KiB, as a proxy does.
enum TLSRelay {
    /// Whether there is a Python 3 with TLS to run it.
    static var isAvailable: Bool {
        get async { (try? await run("python3", ["-c", "import ssl"])) != nil }
    }

    /// Runs a test with a relay to a loopback port; it is stopped afterwards.
    static func with(port: Int, _ body: (_ port: Int) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "relay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await makeCertificate(in: folder, certificate: "relay.crt", key: "relay.key")
        let ports = folder.appending(path: "port").path
        let relay = try Program(
            URL(filePath: "/usr/bin/env"), ["python3", "-c", program, "\(port)", folder.path, ports],
            environment: ProcessInfo.processInfo.environment, output: folder.appending(path: "output"), folder: folder)
        defer { relay.send(SIGKILL) }
        var own: Int?
        let isListening = try await eventually {
            own = (try? String(contentsOfFile: ports, encoding: .utf8)).flatMap { text in
                text.hasSuffix("\n") ? Int(text.dropLast()) : nil
            }
            return own != nil
        }
        guard isListening, let own else { throw RelayFailed() }
        try await body(own)
    }

    struct RelayFailed: Error {}

    /// A certificate for `localhost`, signed with its own key.
    static func makeCertificate(in folder: URL, certificate: String, key: String) async throws {
        try await run(
            "/usr/bin/env",
            [
                "openssl", "req", "-x509", "-days", "2", "-subj", "/CN=localhost", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", folder.appending(path: key).path, "-out",
                folder.appending(path: certificate).path,
            ])
    }

    /// One connection at a time. It answers the SSLRequest (PostgreSQL's manual, 55.2.10), and gathers what the server
    /// sends until 16 KiB are there or the server has been quiet for 20 ms.
    private static let program = """
        import select, socket, ssl, sys
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2] + "/relay.crt", sys.argv[2] + "/relay.key")
        listener = socket.create_server(("127.0.0.1", 0))
        open(sys.argv[3], "w").write(str(listener.getsockname()[1]) + "\\n")
        while True:
            plain, _ = listener.accept()
            plain.recv(8)
            plain.sendall(b"S")
            client = context.wrap_socket(plain, server_side=True)
            server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
            held, is_open = b"", True
            try:
                while is_open:
                    waiting = [server, client] if len(held) < 1 << 20 else [client]
                    ready = [client] if client.pending() else select.select(waiting, [], [], 0.02)[0]
                    if server in ready:
                        data = server.recv(65536)
                        held, is_open = held + data, len(data) > 0
                    if client in ready:
                        data = client.recv(65536)
                        if not data: break
                        server.sendall(data)
                    while len(held) >= 16384 or (held and not ready):
                        client.sendall(held[:16384])
                        held = held[16384:]
            except (OSError, ssl.SSLError):
                pass
            for end in (client, server): end.close()
        """
}
