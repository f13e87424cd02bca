import Foundation
import StackKit
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct LocalCertificateTests {
    private static func certificate(in folder: String, hosts: [String] = ["localhost", "127.0.0.1", "::1"])
        -> LocalCertificate
    {
        LocalCertificate(
            rootFile: "\(folder)/ca.pem", certificateFile: "\(folder)/certificate.pem", keyFile: "\(folder)/key.pem",
            hosts: hosts)
    }

    /// Runs openssl, another reader of certificates than ours.
    private static func openssl(_ arguments: [String]) async throws -> ProgramResult {
        try await result(of: "/usr/bin/openssl", arguments)
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/openssl"), "openssl reads what was made"),
        arguments: [
            (["-verify_hostname", "localhost"], true), (["-verify_ip", "127.0.0.1"], true),
            (["-verify_ip", "::1"], true),
            (["-verify_hostname", "hub-emulator"], true), (["-verify_hostname", "other"], false),
            (["-verify_ip", "127.0.0.2"], false),
        ] as [([String], Bool)])
    func `It is good for its hosts and no others`(_ name: [String], _ isGood: Bool) async throws {
        try await withTemporaryFolder { folder in
            let certificate = Self.certificate(in: folder, hosts: ["localhost", "127.0.0.1", "::1", "hub-emulator"])
            #expect(try certificate.make().count == 3)
            let arguments = ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", certificate.rootFile]
            let result = try await Self.openssl(arguments + name + [certificate.certificateFile])
            #expect((result.exitCode == 0) == isGood, "\(result.output)")
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/openssl"), "openssl reads what was made"))
    func `The key is that of the certificate`() async throws {
        try await withTemporaryFolder { folder in
            let certificate = Self.certificate(in: folder)
            _ = try certificate.make()
            let fromKey = try await Self.openssl(["pkey", "-in", certificate.keyFile, "-pubout"])
            let fromCertificate = try await Self.openssl([
                "x509", "-in", certificate.certificateFile, "-noout", "-pubkey",
            ])
            #expect(fromKey.exitCode == 0 && fromKey.output.contains("PUBLIC KEY"))
            #expect(fromKey.output == fromCertificate.output)
        }
    }

    @Test func `Only the owner reads it`() async throws {
        try await withTemporaryFolder { folder in
            let certificate = Self.certificate(in: folder)
            for file in try certificate.make() { #expect(SecretFile.mode(file) == 0o600, "\(file)") }
        }
    }

    @Test func `It stays while it is good, and is made anew in time`() async throws {
        try await withTemporaryFolder { folder in
            let certificate = Self.certificate(in: folder)
            let now = Date()
            _ = try certificate.make(now: now)
            let first = try SecretFile.read(certificate.certificateFile)
            let lasts = try certificate.goodUntil().timeIntervalSince(now)
            #expect(abs(lasts - TimeInterval(LocalCertificate.validity)) < 2)
            #expect(try certificate.make(now: now + TimeInterval(300 * 86_400)) == [])
            #expect(try certificate.make(now: now + TimeInterval(336 * 86_400)).count == 3)
            #expect(try SecretFile.read(certificate.certificateFile) != first)
            try FileManager.default.removeItem(atPath: certificate.keyFile)
            #expect(try certificate.make(now: now).count == 3)
        }
    }

    @Test func `A file that is no certificate is named`() async throws {
        try await withTemporaryFolder { folder in
            let certificate = Self.certificate(in: folder)
            for file in try certificate.make() { try Data("x".utf8).write(to: URL(filePath: file)) }
            #expect(throws: CommandFailure.self) { try certificate.make() }
        }
    }
}
