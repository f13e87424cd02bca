import Foundations

/// The meaning of a response of FCM: by FCM's error code, else by Google's common code, else by the status.
struct FCMAnswer: Sendable {
    private(set) var result: PushResult
    /// Whether another access token may help.
    private(set) var refusesToken = false

    /// "Scale FCM": the wait after 429 without `Retry-After`.
    static let waitOfProject = Duration.seconds(60)
    /// Such as `message.android.ttl`. A name with an index would be one of the payload's.
    private static let fieldBytes = ByteSet.alphanumerics.union(ByteSet("._"))
    private static let deviceFields: Set<String> = ["message.token", "message.fid"]

    init(_ response: PushHTTPResponse, now: Timestamp) {
        let status = response.status
        guard !(200...299).contains(status) else {
            result = PushResult(.accepted, status: status)
            return
        }
        let error = FCMError(response)
        let wait = response["retry-after"].flatMap { Duration(retryAfter: $0, now: now) }
        let words = [error.code, error.status].compactMap(\.self)
        let meaning = words.lazy.compactMap { Self.meaning($0, error) }.first ?? Self.meaning(status)
        var reason = words.first ?? error.message
        let answer: PushAnswer
        switch meaning {
        case .end(let end): answer = end
        case .token: (answer, refusesToken) = (.credentialRefused, true)
        case .throttled where error.isAboutDevice: answer = .deviceThrottled(after: wait)
        case .throttled: answer = .throttled(after: wait ?? Self.waitOfProject)
        case .failed: answer = .failed(after: wait)
        }
        if answer == .invalid, let field = error.fields.first, Self.fieldBytes.containsAll(field) {
            reason = "\(reason ?? "") \(field)"
        }
        result = PushResult(answer, reason: PushReason.text(reason, status: status), status: status)
    }

    private enum Meaning {
        case end(PushAnswer)
        case token, throttled, failed
    }

    /// - Parameter word: `errorCode` of an `FcmError`, or `status` of an error.
    private static func meaning(_ word: String, _ error: FCMError) -> Meaning? {
        switch word {
        case "UNREGISTERED", "UNREGISTERED_FID": .end(.gone(since: nil))
        case "SENDER_ID_MISMATCH": .end(.wrongSender)
        case "PERMISSION_DENIED": .end(.credentialRefused)
        // FCM would hand the push to another push service, for a device of iOS or a browser, and has no key for that.
        // One such device must not stop the pushes to all others.
        case "THIRD_PARTY_AUTH_ERROR": .end(.invalid)
        case "UNAUTHENTICATED": .token
        case "INVALID_ARGUMENT": .end(invalidArgument(error))
        case "QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED": .throttled
        case "UNAVAILABLE", "INTERNAL", "DEADLINE_EXCEEDED", "ABORTED", "CANCELLED", "UNKNOWN": .failed
        // Without FCM's error code the project may not exist. Then all devices get this answer.
        case "NOT_FOUND": .end(.wrongAddress)
        default: nil
        }
    }

    /// FCM has one code for a malformed payload and for a malformed token.
    private static func invalidArgument(_ error: FCMError) -> PushAnswer {
        if error.fields.isEmpty {
            if error.message?.contains("not a valid FCM registration token") == true { return .wrongAddress }
        } else if error.fields.allSatisfy(deviceFields.contains) {
            return .wrongAddress
        }
        return error.message?.contains("too big") == true ? .tooLarge : .invalid
    }

    private static func meaning(_ status: Int) -> Meaning {
        switch status {
        case 401: .token
        case 403: .end(.credentialRefused)
        // Without an error in FCM's form, 404 is not from FCM, and says nothing about the device.
        case 404, 408, 500...599: .failed
        case 413: .end(.tooLarge)
        case 429: .throttled
        default: .end(.invalid)
        }
    }
}

/// An error in the form of Google's APIs (`google.rpc.Status`).
private struct FCMError {
    let status: String?
    let message: String?
    /// FCM's error code.
    var code: String?
    /// The fields of the request that are wrong.
    var fields: [String] = []
    /// Whether a limit of the device is exceeded, and not one of the project.
    var isAboutDevice = false

    init(_ response: PushHTTPResponse) {
        let error = PushReason.object(in: response.body)?["error"]
        status = error?["status"]?.text
        message = error?["message"]?.text
        for detail in error?["details"]?.elements ?? [] {
            guard let type = detail["@type"]?.text?.split(separator: "/").last else { continue }
            switch type {
            case "google.firebase.fcm.v1.FcmError": code = code ?? detail["errorCode"]?.text
            case "google.rpc.BadRequest":
                fields += (detail["fieldViolations"]?.elements ?? []).compactMap { $0["field"]?.text }
            case "google.rpc.QuotaFailure":
                let texts = (detail["violations"]?.elements ?? []).flatMap { [$0["subject"], $0["description"]] }
                isAboutDevice = texts.contains { $0?.text?.lowercased().contains("device") == true }
            default: continue
            }
        }
        // The status of the response is more precise.
        if code == "UNSPECIFIED_ERROR" { code = nil }
    }
}
