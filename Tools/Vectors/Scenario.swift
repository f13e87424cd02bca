import SecurePushCore

/// A device, a scripted server, and wakes. `Clients/vectors/README.md` describes the JSON.
struct Scenario {
    var name: String
    /// Further members of the case: the fault, the stage and the length.
    var labels: [(String, String)] = []
    var isSigned = true
    /// The keys that the server publishes. The configuration has the current one.
    var publishedKeys = [VectorKeys.current]
    var dateOffset = 0
    var user: String? = VectorKeys.user
    /// When the first access token expires, after the beginning; `nil`: never.
    var tokenLifetime: Int? = 3_600_000
    var hasRefreshToken = true
    var isLoggedIn = true
    /// The notifications of the server: the missed one and the pushed one.
    var items = [
        ServerModel.Item(VectorKeys.missed, "\"missed secret\""), ServerModel.Item(VectorKeys.pushed, "\"secret\""),
    ]
    var wakes: [Wake] = []

    /// One wake, and what goes wrong in it.
    struct Wake {
        var kind = Kind.push(id: VectorKeys.pushed)
        /// The time since the end of the last wake.
        var pause = 0
        var deviceFaults: [DeviceFault] = []
        /// Changes the server before the wake.
        var before: (ServerModel) -> Void = { _ in }
    }

    enum Kind {
        case push(id: String, withdraw: Bool = false, signedAt: Int = 0, by: String = VectorKeys.current)
        /// A push as it is.
        case members(JSONLiteral, reason: String)
        case catchUp
        case logIn
    }

    enum DeviceFault {
        /// Changes of the store fail: the first ones, or all.
        case unwritable(times: Int?)
        case damaged
        case locked
        case refused(times: Int?)
        case clock(jump: Int)
        /// The process starts again.
        case restarted

        func json(_ wake: Int) -> JSONLiteral {
            switch self {
            case .unwritable(let times):
                ["wake": JSONLiteral(wake), "part": "store", "error": "unwritable", "times": JSONLiteral(times)]
            case .damaged: ["wake": JSONLiteral(wake), "part": "store", "error": "damaged"]
            case .locked: ["wake": JSONLiteral(wake), "part": "store", "error": "locked"]
            case .refused(let times):
                ["wake": JSONLiteral(wake), "part": "presenter", "error": "refused", "times": JSONLiteral(times)]
            case .clock(let jump): ["wake": JSONLiteral(wake), "part": "clock", "jumpMs": JSONLiteral(jump)]
            case .restarted: ["wake": JSONLiteral(wake), "part": "process", "error": "restarted"]
            }
        }
    }

    /// Runs the model, and writes the case.
    func vectorCase(_ server: ServerModel = ServerModel()) throws -> VectorCase { try run(server).0 }

    /// Runs the model, and writes the case. The device is as it is at the end.
    func run(_ server: ServerModel) throws -> (VectorCase, DeviceModel) {
        server.items = items
        server.pushKeys = try VectorKeys.jwks(publishedKeys).value.json
        let device = try DeviceModel(self, server)
        var (written, faults) = ([JSONLiteral](), [JSONLiteral]())
        for (number, wake) in wakes.enumerated() {
            faults += wake.deviceFaults.map { $0.json(number) }
            written.append(try run(wake, on: device, server))
        }
        var members: [JSONValue.Member] = labels.map { .init($0.0, .string($0.1)) }
        let keys = isSigned ? try VectorKeys.jwks([VectorKeys.current]) : nil
        members += [
            .init(
                "configuration",
                ["retrievalUrl": "https://push.example.com", "pushKeys": keys]),
            .init("dateMs", JSONLiteral(VectorKeys.date + dateOffset)), .init("user", JSONLiteral(user)),
            .init("credentials", credentials), .init("server", server.json),
            .init("faults", JSONLiteral(faults)), .init("wakes", JSONLiteral(written)),
        ]
        return (VectorCase(name, JSONLiteral(.object(members))), device)
    }

    private var credentials: JSONLiteral {
        guard isLoggedIn else { return nil }
        return [
            "accessToken": "access-1", "expiresAtMs": JSONLiteral(tokenLifetime.map { VectorKeys.date + $0 }),
            "refreshToken": hasRefreshToken ? "refresh-1" : nil,
        ]
    }

    private func run(_ wake: Wake, on device: DeviceModel, _ server: ServerModel) throws -> JSONLiteral {
        wake.before(server)
        device.now += wake.pause
        device.beginWake(wake.deviceFaults)
        var members: [JSONValue.Member] = [.init("afterMs", JSONLiteral(wake.pause))]
        switch wake.kind {
        case .push(let id, let withdraw, let date, let key):
            let time = VectorKeys.date + dateOffset + date
            let signature = isSigned ? try VectorKeys.sign(id, at: time, withdraw: withdraw, with: key) : nil
            var push: [(String, String)] = [("secureId", id)]
            if withdraw { push.append(("withdraw", "1")) }
            if let signature { push += [("ts", String(signature.timestamp)), ("sig", signature.signature)] }
            members += [.init("kind", "push" as JSONLiteral), .init("push", JSONLiteral(push))]
            let stamp = try signature.map { (date: Int($0.timestamp) * 1_000, key: try VectorKeys.x(key)) }
            device.receive(id, withdraw: withdraw, stamp)
        case .members(let push, let reason):
            members += [.init("kind", "object" as JSONLiteral), .init("push", push)]
            device.ignore(reason)
        case .catchUp:
            members.append(.init("kind", "catchUp" as JSONLiteral))
            device.catchUp()
        case .logIn:
            members += [
                .init("kind", "logIn" as JSONLiteral), .init("userName", JSONLiteral(user)),
                .init("password", "correct horse" as JSONLiteral),
            ]
            device.logIn()
        }
        members.append(.init("expect", device.endWake()))
        return JSONLiteral(.object(members))
    }
}

extension JSONValue.Member {
    init(_ name: String, _ value: JSONLiteral) { self.init(name, value.value) }
}
