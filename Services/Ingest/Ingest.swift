import ServiceRuntime

/// The ingest service: takes secrets from application servers, seals and stores them, and publishes their IDs.
@main
struct Ingest {
    static func main() async {
        await ServiceMain.run(
            name: "ingest",
            summary: "Takes notifications from application servers, seals and stores them, and publishes their IDs.",
            read: { IngestConfiguration(&$0) },
            build: { try await buildIngest($0, context: $1).services })
    }
}
