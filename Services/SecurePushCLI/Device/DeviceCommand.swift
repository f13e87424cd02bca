import ArgumentParser
import Foundation
import SecurePushCore

struct DeviceCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Be a user's device: register, wait for pushes, fetch and show what they announce.",
        discussion: """
            Registers with the retrieval service as an app does, listens to the hub emulator in place of Apple's,
            Google's or Microsoft's push service, and fetches each announced payload with the user's credentials. When
            these are not taken it shows the generic prompt, as an app would. Runs until Ctrl-C, or until --count were
            shown.

            EXAMPLES
              securepush device --user alice --platform apple --password-file alice.password
              securepush device --user alice --platform windows --token-file alice.token --count 1 --timeout 30s
            """)

    @Option(help: ArgumentHelp("The user whose device it is.", valueName: "name"))
    var user: String

    @Option(help: "The kind of device.")
    var platform: DevicePlatform

    @Option(help: ArgumentHelp("The device's handle; a new one when left out.", valueName: "handle"))
    var handle: String?

    @Option(help: ArgumentHelp("End after this many notifications were shown.", valueName: "n"))
    var count: Int?

    @Option(help: ArgumentHelp("Give up (exit code 1) after this time.", valueName: "duration"))
    var timeout: DurationArgument?

    @Option(help: ArgumentHelp("The hub emulator (HUB_EMULATOR_URL; http://127.0.0.1:8090).", valueName: "url"))
    var emulatorURL: String?

    @OptionGroup var userCredentials: UserCredentialOptions

    @Option(
        help: ArgumentHelp("A token to fetch with, if not the one to register with: an expired one.", valueName: "file")
    )
    var fetchTokenFile: String?

    @OptionGroup(title: "Service") var retrieval: RetrievalOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is at least 1.") }
    }

    func run(on console: Console) async throws {
        let environment = ProcessInfo.processInfo.environment
        let credentials = try userCredentials.credentials(of: user, environment)
        let client = try retrieval.client(timeout: .seconds(10))
        let emulator = try APIClient(
            service: "hub-emulator",
            url: emulatorURL ?? environment["HUB_EMULATOR_URL"] ?? "http://127.0.0.1:8090", timeout: .seconds(10))
        let handle = handle ?? platform.makeHandle()
        let tell: @Sendable (DeviceEvent) -> Void = { event in
            if console.isJSON {
                try? console.show(event, "")
            } else if event.isData {
                console.line(event.line)
            } else {
                console.message(event.line)
            }
        }
        let registration = DeviceRegistration(
            platform: platform, handle: handle, authorization: credentials.authorization, retrieval: client)
        let fetchToken = try fetchTokenFile.map { Credentials.bearer(try SecretFile.read($0)) }
        let device = SimulatedDevice(
            platform: platform, handle: handle, authorization: (fetchToken ?? credentials).authorization,
            retrieval: client, emulator: emulator, tell: tell)
        let end = try await Deadline.run(timeout?.duration) {
            let id = try await registration.run()
            tell(DeviceEvent(event: .registered, platform: platform.rawValue, text: id))
            try await device.run(until: count)
        }
        if end == .timedOut { throw CommandFailure(.failed, "The time is up.") }
    }
}

/// A kind of device that can be simulated, by the hub's name of its format.
enum DevicePlatform: String, CaseIterable, Sendable, ExpressibleByArgument {
    case apple
    case fcmv1
    case windows

    /// The name under which the tutorial's clients register.
    var registrationName: String {
        switch self {
        case .apple: "apns"
        case .fcmv1: "fcmv1"
        case .windows: "wns"
        }
    }

    /// A new handle in the platform's own form: an APNs device token, an FCM registration token, a WNS channel URI.
    func makeHandle() -> String {
        let token = (0..<32).map { _ in UInt8.random(in: 0...255) }
        switch self {
        case .apple: return token.hex.uppercased()
        case .fcmv1: return "\(token.prefix(11).hex):APA91b\(token.hex)"
        case .windows: return "https://db5.notify.windows.com/?token=\(token.hex)"
        }
    }
}

/// What a simulated device tells: a line for people, an object for programs.
struct DeviceEvent: Encodable, Sendable, Equatable {
    enum Name: String, Encodable, Sendable {
        case registered
        case listening
        case received
        case shows
        case ignored
        case disconnected
    }

    var event: Name
    var platform: String
    var id: String?
    var text: String?
    var kind: String?
    var reason: String?

    private enum CodingKeys: String, CodingKey {
        case event = "Event"
        case platform = "Platform"
        case id = "Id"
        case text = "Text"
        case kind = "Kind"
        case reason = "Reason"
    }

    /// Two columns, then the words: `apple    shows       Your results are in.`
    var line: String {
        let words =
            switch event {
            case .received: "\(id ?? "")  (\(kind ?? "push"))"
            case .shows: (text ?? "").printable + (reason.map { "  (\($0.printable))" } ?? "")
            case .ignored: [id, reason?.printable].compactMap { $0 }.joined(separator: "  ")
            case .registered, .listening, .disconnected: (text ?? reason ?? "").printable
            }
        return platform.padded(to: 9) + event.rawValue.padded(to: 12) + words
    }

    /// What is shown and received is data; the rest is said on standard error, unless a program reads along.
    var isData: Bool { event == .received || event == .shows }
}

extension String {
    /// The text with blanks after it up to a width, and at least one.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
