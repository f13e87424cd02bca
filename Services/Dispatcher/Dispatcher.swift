import ServiceRuntime

/// The dispatcher: consumes IDs from the broker and wakes the recipients' devices through the hub. Run as many as
/// needed.
@main
struct Dispatcher {
    static func main() async {
        await ServiceMain.run(
            name: "dispatcher",
            summary: "Consumes notification IDs and fans them out through the hub.",
            keys: DispatcherConfiguration.keys,
            read: { DispatcherConfiguration(&$0) },
            build: { try await buildDispatcher($0, context: $1).services })
    }
}
