import Foundations

extension Platform {
    /// The names that devices register with, where they are not those of the hub's formats. Either name is accepted
    /// wherever a client names a platform.
    package static let deviceNames: [(device: String, format: Platform)] = [("apns", .apple), ("wns", .windows)]

    /// The platform of a name in either form; another name is taken as it is.
    package init(eitherName name: String) {
        self = Self.deviceNames.first { $0.device == name }?.format ?? Platform(rawValue: name)
    }

    /// The name that devices register with of a name in either form; another name is taken as it is. The case of ASCII
    /// letters does not matter.
    package static func deviceName(eitherName name: String) -> String {
        deviceNames.first { $0.format.rawValue.equalsIgnoringASCIICase(name) }?.device ?? name
    }
}
