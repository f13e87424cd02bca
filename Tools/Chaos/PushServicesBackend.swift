import ChaosChecker
import Foundation
import StackKit
import Synchronization

/// The strict push services of `scripts/push-services.sh`, one for each platform, to which hubs of one's own push: they
/// accept pushes one by one and know which of their answers were lost.
final class PushServicesBackend: PushBackend {
    /// The push service of a platform.
    struct Service: Sendable {
        let platform: String
        let fake: FakePushService
        let program: Program
    }

    /// A device of a user, and the platform that it is of.
    struct Device: Sendable {
        let platform: String
        let made: FakePushService.Device
    }

    private struct State: Sendable {
        var isSilent = false
        var isStorming = false
        var hasFaults = false
        /// The requests that were left without an answer, as the services count them.
        var silences = 0
        /// The next push of each service after a page that was read, by the page's number.
        var places: [Int: [String: Int]] = [0: [:]]
        var pages = 0
    }

    /// One answer of five is a bad one. The hubs ask again after a second, as far as the services name a time. WNS, which
    /// has no GOAWAY, ends the connection.
    private static let rates =
        #""serverError":0.08,"throttled":0.05,"goaway":0.02,"lost":0.05,"retryAfter":1"#
    /// Access tokens are asked for seldom, so that more of these answers are bad.
    private static let tokenRates =
        #""serverError":0.15,"throttled":0.1,"lost":0.1,"slow":0.15,"slowSeconds":2,"retryAfter":1"#
    /// Of an access token, in seconds. A hub uses it for half of that: short enough that each asks for many in a run.
    private static let tokenLifetime = 60
    /// A push has its answer, and the connection is known to have lived on, after this time.
    private static let settled = 0.25
    /// Of each service: for pushes, tokens and the admin API.
    private static let portsOfService = 3

    let services: [Service]
    /// Of each user.
    let devices: [[Device]]
    private let seed: UInt64
    private let state = Mutex(State())

    private init(_ services: [Service], _ devices: [[Device]], seed: UInt64) {
        (self.services, self.devices, self.seed) = (services, devices, seed % 1_000_000)
    }

    static func portCount(_ options: ChaosOptions) -> Int {
        options.isOwn ? portsOfService * options.platformNames.count : 0
    }

    /// Starts a service for each platform, gives it the hub's credential, and makes the devices of all users.
    static func start(
        _ options: ChaosOptions, in folder: RunFolder, firstPort: Int, scripts: Scripts, credentials: HubCredentials
    ) async throws -> PushServicesBackend {
        var services: [Service] = []
        do {
            for (number, platform) in options.platformNames.enumerated() {
                guard let kind = kinds[platform] else { continue }
                let port = firstPort + portsOfService * number
                let (fake, program) = try await FakePushService.start(
                    kind, in: folder.pushServices.appending(path: kind.rawValue),
                    options: [
                        "--port", "\(port)", "--token-port", "\(port + 1)", "--admin-port", "\(port + 2)",
                    ],
                    scripts: scripts, record: folder.run.appending(path: "\(kind.rawValue).pid"))
                services.append(Service(platform: platform, fake: fake, program: program))
                if let credential = credentials.credential(kind) { try await fake.setCredentials([credential]) }
                if hasTokens(kind) { try await fake.setTokenLifetime(seconds: tokenLifetime) }
            }
            let devices = try await makeDevices(options, services, credentials)
            return PushServicesBackend(services, devices, seed: options.seed)
        } catch {
            for service in services { await FakePushService.end(service.program) }
            throw error
        }
    }

    private static let kinds: [String: FakePushService.Kind] = [
        "apple": .apns, "fcmv1": .fcm, "windows": .wns, "browser": .webPush,
    ]

    /// Whether a service gives access tokens.
    private static func hasTokens(_ kind: FakePushService.Kind) -> Bool { kind == .fcm || kind == .wns }

    /// The platform of a user's device: most users have two devices of one platform and one of the next. What a hub
    /// cannot push it stores only if another device of the send was reached (contract-hub, K3).
    private static func platform(_ place: Int, of user: Int, _ names: [String]) -> String {
        names[(user + place / 2) % names.count]
    }

    private static func makeDevices(
        _ options: ChaosOptions, _ services: [Service], _ credentials: HubCredentials
    ) async throws -> [[Device]] {
        let wanted = (0..<options.recipients).map { user in
            (0..<options.devicesOfUser).map { platform($0, of: user, options.platformNames) }
        }
        var made: [String: [FakePushService.Device]] = [:]
        for service in services {
            // Of each form by turns, so that a user's devices have different ones.
            let forms = credentials.forms(service.fake.kind)
            let count = wanted.joined().count { $0 == service.platform }
            let share = (count + forms.count - 1) / forms.count
            var parts: [[FakePushService.Device]] = []
            for form in forms { parts.append(try await service.fake.devices(share, form)) }
            made[service.platform] = (0..<count).map { parts[$0 % forms.count][$0 / forms.count] }
        }
        return wanted.map { names in
            names.compactMap { name in made[name]?.popLast().map { Device(platform: name, made: $0) } }
        }
    }

    func end() async { for service in services { await FakePushService.end(service.program) } }

    let place = "pushes"

    let faults = """
        errors of the push services (8 % 5xx, 5 % 429 or 406, 2 % GOAWAY, 5 % taken and unanswered) and of their token \
        services (15 % 5xx, 10 % 429, 10 % unanswered, 15 % slow)
        """

    func page(after number: Int) async throws -> PushPage {
        let from = state.withLock { $0.places[number] } ?? [:]
        var (page, places) = (PushPage(), from)
        let now = Date.now.timeIntervalSince1970
        for service in services {
            let next = from[service.platform] ?? 0
            let pushes = try await service.fake.pushes(from: next, limit: PushPage.limit)
            let ended = pushes.prefix { $0.time < now - Self.settled }
            page.crossings += ended.map { Self.crossing($0, service.platform) }
            page.count += ended.count
            page.missing += max(0, (ended.first?.number ?? next) - next)
            page.bytes += ended.flatMap { $0.body ?? [] }
            if let last = ended.last { places[service.platform] = last.number + 1 }
        }
        page.unanswered = try await newSilences()
        if page.count > 0 { page.last = note(places, after: number) }
        return page
    }

    /// Gives a page its number. Two readers may ask for the page after the same one, so the places of that one are kept
    /// until a later page is asked for.
    private func note(_ places: [String: Int], after number: Int) -> Int {
        state.withLock { state in
            state.pages += 1
            state.places = state.places.filter { $0.key >= number }
            state.places[state.pages] = places
            return state.pages
        }
    }

    private static func crossing(_ push: FakePushService.Push, _ platform: String) -> Crossing {
        Crossing(
            sequence: push.number + 1, platform: platform, time: Int64(push.time * 1000), body: push.text ?? "",
            accepted: true, status: push.answer == "sent" ? 200 : nil,
            fault: push.answer == "sent" ? nil : push.answer, handles: [push.device], audience: push.device)
    }

    private func newSilences() async throws -> Int {
        guard state.withLock({ $0.isSilent }) else { return 0 }
        var count = 0
        for service in services { count += try await service.fake.state().counts["faults.silence"] ?? 0 }
        return state.withLock { state in
            defer { state.silences = count }
            return max(0, count - state.silences)
        }
    }

    func beginFaults() async throws { try await change { $0.hasFaults = true } }
    func endFaults() async throws { try await change { $0.hasFaults = false } }
    func beginStorm(_ milliseconds: Int) async throws { try await change { $0.isStorming = true } }
    func endStorm() async throws { try await change { $0.isStorming = false } }
    func beginSilence() async throws { try await change { $0.isSilent = true } }
    func endSilence() async throws { try await change { $0.isSilent = false } }

    /// A storm and a silence take the place of the other faults. Meanwhile there are access tokens: a push without one
    /// would not meet the silence.
    private func change(_ body: (inout State) -> Void) async throws {
        let (isSilent, isStorming, hasFaults) = state.withLock { state in
            body(&state)
            return (state.isSilent, state.isStorming, state.hasFaults)
        }
        let rates =
            if isSilent { #""silence":1"# } else if isStorming { #""throttled":1,"retryAfter":2"# } else {
                hasFaults ? Self.rates : #""serverError":0"#
            }
        let tokenRates = hasFaults && !isSilent && !isStorming ? Self.tokenRates : #""serverError":0"#
        for (number, service) in services.enumerated() {
            let seed = seed + UInt64(number)
            try await service.fake.setFaults("{\(rates),\"seed\":\(seed)}")
            if Self.hasTokens(service.fake.kind) {
                try await service.fake.setFaults("{\(tokenRates),\"seed\":\(seed)}", at: .token)
            }
        }
    }
}
