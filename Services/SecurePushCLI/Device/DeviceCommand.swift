import ArgumentParser
import AsyncHTTPClient
import Domain
import Foundation
import Foundations
import SecurePushClient

struct DeviceCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Simulate users' devices: register, receive pushes, fetch and show the payloads.",
        discussion: """
            Each device is an app of the Swift SDK (Clients/Swift). It registers with the retrieval service, listens \
            to the hub emulator in place of Apple's, Google's or Microsoft's push service, and fetches the payload of \
            each push with the user's credentials. An alert push of Apple goes through the SDK's service extension. If \
            the service refuses the credentials, the device shows the generic prompt. Runs until Ctrl-C or SIGTERM, or \
            until the devices have shown --count notifications. At the end it removes the device from the server, \
            unless --keep is given.

            If the hub emulator does not answer at the start, the command gives up after six tries (exit code 69). \
            Later it connects again for as long as it takes. If retrieval cannot register the device now (429, 5xx), \
            it tries again, after the Retry-After that retrieval gives.

            --devices starts several devices in one process. {n} in the user's name is the number of the device, from \
            1: each device then has its own user, and without --devices there are as many devices as --count says, one \
            notification for each. Without {n} all devices belong to one user, who can have 100. Several --platform \
            take turns.

            With --login-after nobody is logged in at first (or the token of --fetch-token-file is in use). The device \
            shows the prompt, the user logs in after this time, and the device shows what waits. The prompt does not \
            count for --count then.

            EXAMPLES
              securepush device --user alice --platform apple --password-file alice.password
              securepush device --user alice --platform windows --token-file alice.token \\
                  --count 1 --timeout 30s
              securepush device --user alice --platform apple \\
                  --password-file alice.password --login-after 10s --count 1
              securepush device --user alice --platform apple \\
                  --password-file alice.password --answer approve --challenge 42 --count 1
              securepush device --user 'load-{n}' --platform apple --count 1000 \\
                  --signing-key-file signing-key.pem
            """)

    @Option(help: ArgumentHelp("The user of the device; {n} in it is the device's number.", valueName: "name"))
    var user: String

    @Option(help: "The platform of the device. Repeat it for several devices.")
    var platform: [DevicePlatform]

    @Option(help: ArgumentHelp("The handle of the device (default: a new one).", valueName: "handle"))
    var handle: String?

    @Option(help: ArgumentHelp("Exit after this many notifications, counted over all devices.", valueName: "n"))
    var count: Int?

    @Option(
        help: ArgumentHelp("Number of devices, 1 to 2,000 (default: 1; --count with {n} in --user).", valueName: "n"))
    var devices: Int?

    @Flag(help: "Leave the device registered at the end. With --handle, the next start then continues as that device.")
    var keep = false

    @Option(help: ArgumentHelp("Log in this time after the first prompt.", valueName: "duration"))
    var loginAfter: DurationArgument?

    @Option(help: ArgumentHelp("Give up with exit code 1 after this time.", valueName: "duration"))
    var timeout: DurationArgument?

    @OptionGroup var emulator: EmulatorOptions
    @OptionGroup var userCredentials: UserCredentialOptions

    @Option(
        help: ArgumentHelp(
            "Sign the users' tokens with retrieval's key for them (AUTH_TOKEN_SIGNING_KEY_FILE).", valueName: "file"),
        completion: .file(), transform: filePath)
    var signingKeyFile: String?

    @Option(
        help: ArgumentHelp("Fetch with this token instead, for example an expired one.", valueName: "file"),
        completion: .file(), transform: filePath)
    var fetchTokenFile: String?

    @Option(
        help: ArgumentHelp("Ignore pushes without a valid signature of these keys (a JWK Set).", valueName: "file"),
        completion: .file(), transform: filePath)
    var pushKeysFile: String?

    @Flag(
        name: .customLong("e2e"),
        help: "Register a key, with which senders encrypt for the device, and print its fingerprint.")
    var encrypts = false

    @Option(
        help: ArgumentHelp(
            "Show only payloads that one of these senders has signed (a JWK Set). Implies --e2e.", valueName: "file"),
        completion: .file(), transform: filePath)
    var senderKeys: String?

    @Flag(help: "Show only payloads that are end-to-end encrypted. Implies --e2e.")
    var requireEncryption = false

    @OptionGroup var answering: DeviceAnswerOptions

    @OptionGroup(title: "Service") var retrieval: RetrievalOptions
    @OptionGroup(title: "Service") var network: NetworkOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    static let maxDevices = 2000

    func validate() throws {
        try UserName.validate(user, of: "--user", as: "user")
        try requireRange("--count", count, 1 ... .max)
        try requireRange("--devices", devices, 1...Self.maxDevices)
        if platform.isEmpty { throw ValidationError("Give at least one --platform.") }
        if devices == nil, usesNumbers, !(1...Self.maxDevices).contains(count ?? 0) {
            throw ValidationError("{n} in --user needs --devices or --count, 1 to \(Self.maxDevices.grouped).")
        }
        if handle != nil, deviceCount > 1 { throw ValidationError("--handle is for one device.") }
    }

    /// Whether each device has its own user.
    var usesNumbers: Bool { user.contains("{n}") }

    var deviceCount: Int { devices ?? (usesNumbers ? count ?? 1 : 1) }

    /// The user of a device, from 0.
    func user(of device: Int) -> String { user.replacing("{n}", with: "\(device + 1)") }
}

/// A platform whose devices can be simulated, by the hub's name.
enum DevicePlatform: String, CaseIterable, Sendable, ExpressibleByArgument {
    case apple
    case fcmv1
    case windows

    /// By either name: `apns` and `wns` are those of the devices.
    init?(argument: String) { self.init(rawValue: Platform(eitherName: argument).rawValue) }

    var clientPlatform: PushDevice.Platform {
        switch self {
        case .apple: .apns
        case .fcmv1: .fcmv1
        case .windows: .wns
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
