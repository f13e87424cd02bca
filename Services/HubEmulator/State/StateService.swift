import ServiceLifecycle

/// Writes the last changes when the emulator stops. It is the first service, so it stops last.
struct StateService: Service {
    let journal: StateJournal

    func run() async throws {
        try? await gracefulShutdown()
        journal.close()
    }
}
