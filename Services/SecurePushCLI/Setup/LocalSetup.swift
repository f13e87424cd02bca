import Authentication
import Foundation
import SecurePushCore

/// Makes what a local stack needs and does not have yet: keys, a sender, two users, the hub emulator's connection
/// string and its certificate. What is there stays as it is, so that it can run before every start.
struct LocalSetup: Sendable {
    /// Holds `secrets`.
    var directory: String
    /// The address of the hub emulator in the connection string.
    var hubEndpoint: String

    /// The users that local stacks and the demo have.
    static let users = ["alice", "bob"]
    /// The sender whose key is made.
    static let sender = "demo"

    var secrets: String { directory + "/secrets" }
    var payloadKeys: String { secrets + "/payload.keys" }
    var signingKey: String { secrets + "/token-signing-key.pem" }
    var jwks: String { secrets + "/jwks.json" }
    var apiKeys: String { secrets + "/api-keys" }
    var apiKey: String { secrets + "/ingest-api-key" }
    var usersFile: String { secrets + "/users" }
    var hubConnectionString: String { secrets + "/hub-connection-string" }

    /// For the hub emulator by TLS, under the names of this machine and the one in the connection string.
    var hubCertificate: LocalCertificate {
        let endpoint = URL(string: hubEndpoint)?.host().map { $0.trimmingCharacters(in: ["[", "]"]) }
        var hosts = ["localhost", "127.0.0.1", "::1"]
        if let endpoint, !endpoint.isEmpty, !hosts.contains(endpoint) { hosts.append(endpoint) }
        return LocalCertificate(
            rootFile: secrets + "/hub-emulator-ca.pem", certificateFile: secrets + "/hub-emulator-certificate.pem",
            keyFile: secrets + "/hub-emulator-key.pem", hosts: hosts)
    }

    func passwordFile(of user: String) -> String { "\(secrets)/\(user).password" }

    /// - Returns: the files that were made.
    func run() throws -> [String] {
        try SecretFile.makeFolder(secrets)
        var made: [String] = []
        if try SecretFile.create(payloadKeys, PayloadKeyRing.newLine()) { made.append(payloadKeys) }
        if !SecretFile.exists(signingKey) || !SecretFile.exists(jwks) {
            try SigningKeyFiles.make(signingKey: signingKey, jwks: jwks)
            made += [signingKey, jwks]
        }
        made += try makeAPIKey()
        for user in LocalSetup.users { made += try makeUser(user) }
        let connectionString =
            "Endpoint=\(hubEndpoint);SharedAccessKeyName=DefaultFullSharedAccessSignature;SharedAccessKey="
            + RandomSecret.base64()
        if try SecretFile.create(hubConnectionString, connectionString) { made.append(hubConnectionString) }
        made += try hubCertificate.make()
        return made
    }

    /// The hash file without the key's text is of no use here: the sender gets a new key then.
    private func makeAPIKey() throws -> [String] {
        guard !SecretFile.exists(apiKey) || !SecretFile.exists(apiKeys) else { return [] }
        guard !SecretFile.exists(apiKey) else {
            throw CommandFailure(
                .configuration, "\(apiKey) is there and \(apiKeys) is not.",
                hint: "Remove \(apiKey) and run this again.")
        }
        let file = APIKeysFile(path: apiKeys)
        if SecretFile.exists(apiKeys), try file.list().contains(LocalSetup.sender) {
            try file.remove(LocalSetup.sender)
        }
        try SecretFile.create(apiKey, try file.add(LocalSetup.sender))
        return [apiKeys, apiKey]
    }

    private func makeUser(_ name: String) throws -> [String] {
        let user = try UserName.parse(name)
        let path = passwordFile(of: name)
        let isNew = try SecretFile.create(path, RandomSecret.password())
        let file = UsersFile(path: usersFile)
        let isKnown = SecretFile.exists(usersFile) ? try file.list().contains(user) : false
        if isNew || !isKnown { try file.add(user, password: try SecretFile.read(path), replacing: true) }
        return isNew ? [path] : isKnown ? [] : [usersFile]
    }
}
