import ServiceRuntime

/// The retrieval service: gives secrets to their owners' devices, and registers the devices with the hub.
@main
struct Retrieval {
    static func main() async {
        await ServiceMain.run(
            name: "retrieval",
            summary: "Gives notifications to their owners' devices, and registers the devices.",
            read: { RetrievalConfiguration(&$0) },
            build: { try await buildRetrieval($0, context: $1).services })
    }
}
