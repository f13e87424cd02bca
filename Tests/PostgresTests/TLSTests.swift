import Foundation
import Postgres
import StackKit
import TestSupport
import Testing

/// PostgreSQL over TLS. A TLS record holds up to 16 KiB, and libpq may take a part of one from its TLS library while
/// the socket has nothing more to read: a client that waits for the socket alone then waits for ever.
@Suite(.timeLimit(.minutes(5))) struct TLSTests {
    private static let rows = PostgresStatement("SELECT repeat('x', $1::int4) FROM generate_series(1, $2::int4)")

    /// Answers of many lengths, one after another, so that the last record of some ends within what libpq left.
    private func answersInTurn(_ connection: PostgresConnection) async throws {
        for number in 0..<150 {
            let (width, count) = (Int32(3000 + number * 37), Int32(4 + number % 5))
            var parameters = PostgresParameters()
            parameters.append(width)
            parameters.append(count)
            let result = try await connection.query(Self.rows, parameters)
            #expect(result.count == Int(count))
            #expect(try result.first?.decode(0, as: String.self).utf8.count == Int(width))
        }
    }

    /// Many answers under way at once, some of them above 16 KiB.
    private func answersInAPipeline(_ connection: PostgresConnection) async throws {
        let right = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<400 {
                group.addTask {
                    var parameters = PostgresParameters()
                    parameters.append(Int32(number % 7 == 0 ? 40_000 : 900 + number))
                    parameters.append(Int32(1 + number % 20))
                    return try await connection.query(Self.rows, parameters).count == 1 + number % 20
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(right == 400)
    }

    /// The PostgreSQL of PyPI is built without TLS.
    private static var hasServerTLS: Bool {
        get async throws {
            let library = try await Scripts.ofThisCheckout.run(
                "postgres.sh", ["sql", TestEnvironment.databaseURL, "SHOW ssl_library"])
            return library != "\n"
        }
    }

    @Test(.enabled { try await hasServerTLS }) func `Large answers arrive from a server`() async throws {
        try await withPostgresServer { server in
            try await server.serveTLS()
            try await withConnection(to: server.url + "?sslmode=require") { connection in
                try await answersInTurn(connection)
                try await answersInAPipeline(connection)
            }
            let error = await postgresError {
                try await withConnection(to: server.url + "?sslmode=verify-full&sslrootcert=/dev/null") { _ in }
            }
            #expect(error?.code == .unavailable)
        }
    }

    /// PostgreSQL 15 makes records of 8 KiB at most; later ones, and proxies, fill them.
    @Test(.enabled { await TLSRelay.isAvailable }) func `Records of 16 KiB arrive whole`() async throws {
        let server = try PostgresPlace(url: TestEnvironment.databaseURL)
        try await TLSRelay.with(port: server.port) { port in
            let url = "postgres://\(server.user)@127.0.0.1:\(port)/\(server.database)?sslmode=require"
            try await withConnection(to: url) { connection in
                try await answersInTurn(connection)
                try await answersInAPipeline(connection)
            }
        }
    }
}

/// The parts of a connection URI without a password.
private struct PostgresPlace {
    let user: String
    let port: Int
    let database: String

    init(url: String) throws {
        let components = try #require(URLComponents(string: url))
        user = components.user ?? "securepush"
        port = components.port ?? 5432
        database = String(components.path.dropFirst())
    }
}

extension PostgresServer {
    /// Starts it again with a certificate that it signs itself.
    func serveTLS() async throws {
        try await stop()
        let data = folder.appending(path: "data")
        try await TLSRelay.makeCertificate(in: data, certificate: "server.crt", key: "server.key")
        let key = data.appending(path: "server.key").path
        let owner = try FileManager.default.attributesOfItem(atPath: data.path)[.ownerAccountID] as? NSNumber
        for file in [key, data.appending(path: "server.crt").path] {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600, .ownerAccountID: owner ?? 0], ofItemAtPath: file)
        }
        let settings = try FileHandle(forWritingTo: data.appending(path: "postgresql.conf"))
        try settings.seekToEnd()
        try settings.write(contentsOf: Data("ssl = on\n".utf8))
        try settings.close()
        try await start()
    }
}
