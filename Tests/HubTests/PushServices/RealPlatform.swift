import Crypto
import CryptoExtras
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import PushServices
import StackKit
import Storage
import TestSupport
import Testing

@testable import Hub

/// A platform of the hub `app` whose pushes go to a push service of the tests.
struct RealPlatform: Sendable {
    let kind: FakePushService.Kind
    let service: FakePushService
    /// For keys.
    let folder: String

    private static let topic = "org.example.app"
    private static let (project, app, tenant) = ("test-project", "11111111-2222-3333-4444-555555555555", "test-tenant")
    /// To make one takes a while.
    private static let rsa = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    /// The platform in sends, and the name of its lane.
    var format: NotificationFormat {
        switch kind {
        case .apns: .apple
        case .fcm: .fcmv1
        case .wns: .windows
        case .webPush: .browser
        }
    }

    /// Credentials that the push service takes, and no others of the same kind: the file of credentials.
    ///
    /// - Parameter version: other ones for each.
    func credentials(_ version: Int) async throws -> String {
        let member: String
        switch kind {
        case .apns:
            let (key, keyID) = (P256.Signing.PrivateKey(), "ABC123456\(version)")
            try await service.setCredentials([
                .apns(team: "DEF1234567", keyID: keyID, publicKeyPEM: key.publicKey.pemRepresentation)
            ])
            member = """
                "apns": {"keyFile": "\(try write(key.pemRepresentation, version))", "keyId": "\(keyID)",
                  "teamId": "DEF1234567", "topic": "\(Self.topic)", "endpoint": "\(service.origin)"}
                """
        case .fcm:
            let (key, email) = (try Self.rsa.get(), "push\(version)@test-project.iam.gserviceaccount.com")
            try await service.setCredentials([
                .fcm(project: Self.project, clientEmail: email, publicKeyPEM: key.publicKey.pemRepresentation)
            ])
            let account = [
                "project_id": Self.project, "client_email": email, "private_key": key.pemRepresentation,
                "token_uri": "https://oauth2.googleapis.com/token",
            ]
            let file = try write(String(decoding: try JSONEncoder().encode(account), as: UTF8.self), version)
            member = """
                "fcm": {"serviceAccountFile": "\(file)", "endpoint": "\(service.origin)",
                  "tokenEndpoint": "\(service.tokenOrigin)/token"}
                """
        case .wns:
            let secret = "s3cret\(version)"
            try await service.setCredentials([.wns(app: Self.app, secret: secret, tenant: Self.tenant)])
            member = """
                "wns": {"tenant": "\(Self.tenant)", "clientId": "\(Self.app)",
                  "clientSecretFile": "\(try write(secret, version))", "allowedHosts": ["localhost:\(service.port)"],
                  "tokenEndpoint": "\(service.tokenOrigin)/\(Self.tenant)/oauth2/v2.0/token"}
                """
        case .webPush: throw CocoaError(.featureUnsupported)
        }
        return #"{"app": {\#(member), "caFile": "\#(service.authorityFile)"}}"#
    }

    private func write(_ text: String, _ version: Int) throws -> String {
        let path = "\(folder)/key\(version)"
        try TestHub.write(text, to: path)
        return path
    }

    /// Devices of the app.
    func devices(_ count: Int) async throws -> [String] {
        let platform: FakePushService.Platform =
            switch kind {
            case .apns: .apns(topic: Self.topic)
            case .fcm: .fcm(project: Self.project)
            case .wns: .wns(app: Self.app)
            case .webPush: .webPush(key: nil)
            }
        return try await service.devices(count, platform).map(\.handle)
    }

    /// Devices of somebody else, or of another environment.
    func devices(_ count: Int, _ mistake: Mistake) async throws -> [String] {
        switch mistake {
        case .environment:
            return try await service.devices(count, .apns(topic: Self.topic, environment: "sandbox")).map(\.handle)
        case .topic: return try await service.devices(count, .apns(topic: "org.example.other")).map(\.handle)
        case .project: return try await service.devices(count, .fcm(project: "other-project")).map(\.handle)
        case .app:
            return try await service.devices(count, .wns(app: "22222222-0000-0000-0000-000000000000")).map(\.handle)
        case .channel: return try await devices(count).map { $0 + "0" }
        }
    }

    /// Why the push service refuses all devices.
    enum Mistake: String, CaseIterable, Sendable {
        case environment, topic, project, app, channel

        var kind: FakePushService.Kind {
            switch self {
            case .environment, .topic: .apns
            case .project: .fcm
            case .app, .channel: .wns
            }
        }

        var outcome: String {
            switch self {
            case .environment, .topic, .channel: "BadChannel"
            case .project, .app: "WrongToken"
            }
        }
    }
}

extension TestHub {
    /// Registers installations with a tag.
    func install(_ handles: [String], _ platform: RealPlatform, tag: String) async throws {
        for (number, handle) in handles.enumerated() {
            let id = "\(tag)-\(number)"
            let body = """
                {"installationId": "\(id)", "platform": "\(platform.format.installationPlatform)",
                  "pushChannel": "\(handle)", "tags": ["\(tag)"]}
                """
            try await expect(.ok, .put, "/app/installations/\(id)?api-version=2020-06", body: body)
        }
        try await waitForNextMillisecond()
    }

    /// Sends to a tag: the outcomes by name, after devices that are gone were removed; or the answer, if it is not 201.
    func send(_ platform: RealPlatform, tag: String) async throws -> [String: Int] {
        var headers: HTTPFields = [HubHeaders.format: platform.format.rawValue, HubHeaders.tags: tag]
        headers[.contentType] = "application/json"
        var body = #"{"aps":{"alert":"a"}}"#
        if platform.kind == .fcm { body = #"{"message":{"data":{"a":"b"}}}"# }
        if platform.kind == .wns {
            headers[.contentType] = "application/octet-stream"
            headers[HubHeaders.windowsType] = "wns/raw"
        }
        let answer = try await call(.post, "/app/messages?api-version=2020-06", headers: headers, body: body)
        // A send of the moment in which the credentials change may have to be repeated (503).
        guard answer.status == .created else { return ["\(answer.status) \(answer.text)": 1] }
        await state.delivery.graves.waitUntilWritten()
        var outcomes: [String: Int] = [:]
        for part in (answer.headers[HubHeaders.outcome] ?? "").split(separator: ", ") {
            let pair = part.split(separator: "=")
            if let name = pair.first { outcomes[String(name)] = pair.count == 2 ? Int(pair[1]) : 1 }
        }
        return outcomes
    }

    /// How many devices the hub has.
    func deviceCount() async throws -> Int {
        try await state.delivery.tables.deviceCounts(hub: "app").reduce(0) { $0 + $1.count }
    }
}

/// A registration that is written in the same millisecond as a send outlives its answer.
func waitForNextMillisecond() async throws {
    let written = Timestamp.now
    try await expectEventually { .now > written }
}

/// Runs a test with a hub whose only platform is a real one.
func withRealHub(
    _ kind: FakePushService.Kind, _ options: [String] = [],
    _ test: @escaping @Sendable (TestHub, RealPlatform) async throws -> Void
) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await withPushService(kind, options) { service in
        let platform = RealPlatform(kind: kind, service: service, folder: folder)
        // The test waits for every answer.
        let settings = ["HUB_ACCEPT_TIMEOUT": "60s"]
        try await withHub(credentials: try await platform.credentials(1), settings: settings) { hub in
            try await test(hub, platform)
        }
    }
}
