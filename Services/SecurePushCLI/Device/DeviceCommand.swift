import ArgumentParser
import Foundation
import SecurePushCore

struct DeviceCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Simulate a user's device: register, receive pushes, fetch and show the payloads.",
        discussion: """
            Registers with the retrieval service like an app, listens to the hub emulator in place of Apple's, Google's
            or Microsoft's push service, and fetches the payload of each push with the user's credentials. If the
            service refuses them, it shows the generic prompt like an app. Runs until Ctrl-C, or until it has shown
            --count notifications.

            EXAMPLES
              securepush device --user alice --platform apple --password-file alice.password
              securepush device --user alice --platform windows --token-file alice.token --count 1 --timeout 30s
            """)

    @Option(help: ArgumentHelp("The user of the device.", valueName: "name"))
    var user: String

    @Option(help: "The platform of the device.")
    var platform: DevicePlatform

    @Option(help: ArgumentHelp("The handle of the device (default: a new one).", valueName: "handle"))
    var handle: String?

    @Option(help: ArgumentHelp("Exit after this many notifications.", valueName: "n"))
    var count: Int?

    @Option(help: ArgumentHelp("Give up with exit code 1 after this time.", valueName: "duration"))
    var timeout: DurationArgument?

    @OptionGroup var emulator: EmulatorOptions
    @OptionGroup var userCredentials: UserCredentialOptions

    @Option(help: ArgumentHelp("Fetch with this token instead, for example an expired one.", valueName: "file"))
    var fetchTokenFile: String?

    @OptionGroup(title: "Service") var retrieval: RetrievalOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws { try requireRange("--count", count, 1 ... .max) }

    func run(on console: Console) async throws {
        let credentials = try userCredentials.credentials(of: user)
        let client = try retrieval.client(timeout: .seconds(10))
        let emulator = try emulator.client(timeout: .seconds(10))
        let handle = handle ?? platform.makeHandle()
        let report: @Sendable (DeviceEvent) -> Void = { event in
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
            retrieval: client, emulator: emulator, report: report)
        let end = try await withInterruption(after: timeout?.duration) {
            let id = try await registration.run()
            report(DeviceEvent(event: .registered, platform: platform.rawValue, text: id))
            try await device.run(until: count)
        }
        if end == .timedOut { throw CommandFailure(.failed, "The time limit of --timeout has expired.") }
    }
}

/// A platform whose devices can be simulated, by the hub's name.
enum DevicePlatform: String, CaseIterable, Sendable, ExpressibleByArgument {
    case apple
    case fcmv1
    case windows

    /// The name in the registration API.
    var registrationName: String {
        switch self {
        case .apple: "apns"
        case .fcmv1: "fcmv1"
        case .windows: "wns"
        }
    }

    /// A random handle in the platform's form: an APNs device token, an FCM registration token, a WNS channel URI.
    func makeHandle() -> String {
        let token = (0..<32).map { _ in UInt8.random(in: 0...255) }
        switch self {
        case .apple: return token.hex.uppercased()
        case .fcmv1: return "\(token.prefix(11).hex):APA91b\(token.hex)"
        case .windows: return "https://db5.notify.windows.com/?token=\(token.hex)"
        }
    }
}

/// An event of a simulated device: a line for people, an object for programs.
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
        case event = "Event", platform = "Platform", id = "Id", text = "Text", kind = "Kind", reason = "Reason"
    }

    /// Two columns, then the text: `apple    shows       Your results are in.`
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

    /// Whether the line goes to standard output. The other events go to standard error, except with `--json`.
    var isData: Bool { event == .received || event == .shows }
}
