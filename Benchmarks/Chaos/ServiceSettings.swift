/// The settings of each service of a run; files of keys are named from the folder that the services run in.
struct ServiceSettings: Sendable {
    let options: ChaosOptions
    let secrets: Secrets
    let brokerURL: String
    let databaseURL: String
    let emulatorPort: Int

    private var hub: [String: String] {
        [
            "HUB_CONNECTION_STRING":
                "Endpoint=http://127.0.0.1:\(emulatorPort)/;SharedAccessKeyName=DefaultFullSharedAccessSignature;"
                + "SharedAccessKey=\(secrets.hubKey)",
            "HUB_NAME": "hub", "HUB_PLATFORMS": options.platforms,
        ]
    }

    private var store: [String: String] { ["DATABASE_URL": databaseURL] }
    private var broker: [String: String] { ["AMQP_URL": brokerURL, "RETRY_DELAYS": options.retryDelays] }

    var emulator: [String: String] {
        [
            "EMULATOR_CONNECTION_STRING": hub["HUB_CONNECTION_STRING"] ?? "", "EMULATOR_SEED": "\(options.seed)",
            // The run reads the log all the time; this is for the moments in which it does not come to it.
            "EMULATOR_RECORDS": "200000", "EMULATOR_RECORD_MEGABYTES": "256",
        ]
    }

    var ingest: [String: String] {
        store.merging(broker) { $1 }.merging([
            "PAYLOAD_KEYS_FILE": "payload-keys", "INGEST_API_KEYS_FILE": "api-keys", "AUTH_JWKS_FILE": "jwks.json",
            "HUB_PLATFORMS": options.platforms,
        ]) { $1 }
    }

    var dispatcher: [String: String] {
        store.merging(broker) { $1 }.merging(hub) { $1 }
            .merging(["DISPATCH_CONCURRENCY": "\(options.concurrency)"]) { $1 }
    }

    var retrieval: [String: String] {
        store.merging(hub) { $1 }
            .merging(["PAYLOAD_KEYS_FILE": "payload-keys", "AUTH_JWKS_FILE": "jwks.json"]) { $1 }
    }
}
