/// What an installation's platform knows the device by: one text, or a browser's three.
enum PushChannel: Equatable, Sendable {
    case handle(String)
    /// `isText`: given as the object's JSON text (.NET) and not as an object (JavaScript, Java); given back alike.
    case browser(endpoint: String, p256dh: String, auth: String, isText: Bool)

    /// - Throws: 400.
    init(_ value: JSONValue?, platform: NotificationFormat) throws(HubError) {
        guard platform == .browser else {
            guard let text = value?.text, !text.isEmpty else {
                throw HubError.badRequest("The pushChannel is missing or not a string.")
            }
            if platform == .baidu, !text.contains("-") {
                throw HubError.badRequest("The pushChannel of Baidu is the user ID, a hyphen and the channel ID.")
            }
            guard text.utf8.count <= Device.maxHandleBytes else { throw Device.handleTooLong }
            self = .handle(try InstallationText.checked(text, "pushChannel"))
            return
        }
        let object = value?.text.flatMap(JSONValue.init(text:)) ?? value
        guard let endpoint = object?["endpoint"]?.text, let p256dh = object?["p256dh"]?.text,
            let auth = object?["auth"]?.text, !endpoint.isEmpty, !p256dh.isEmpty, !auth.isEmpty
        else {
            throw HubError.badRequest("The pushChannel of a browser is an object of endpoint, p256dh and auth.")
        }
        guard endpoint.utf8.count <= Device.maxHandleBytes else { throw Device.handleTooLong }
        self = .browser(
            endpoint: try InstallationText.checked(endpoint, "endpoint"),
            p256dh: try InstallationText.checked(p256dh, "p256dh"), auth: try InstallationText.checked(auth, "auth"),
            isText: value?.text != nil)
    }

    var json: JSONValue {
        switch self {
        case .handle(let handle): return .string(handle)
        case .browser(let endpoint, let p256dh, let auth, let isText):
            let object = JSONValue.object([
                JSONValue.Member(name: "endpoint", value: .string(endpoint)),
                JSONValue.Member(name: "p256dh", value: .string(p256dh)),
                JSONValue.Member(name: "auth", value: .string(auth)),
            ])
            return isText ? .string(object.json) : object
        }
    }

    /// The values of the registration elements `NotificationFormat.handleFields`, in their order.
    func fieldValues(of platform: NotificationFormat) -> [String] {
        switch self {
        case .browser(let endpoint, let p256dh, let auth, _): [endpoint, p256dh, auth]
        case .handle(let handle) where platform == .apple: [handle.uppercased()]
        case .handle(let handle) where platform == .baidu:
            handle.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        case .handle(let handle): [handle]
        }
    }
}
