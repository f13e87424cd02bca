import Foundation
import ServiceRuntime

/// A local Azure Notification Hub for stacks and tests.
@main
struct HubEmulator {
    static func main() async {
        await ServiceMain.run(
            name: "hub-emulator", summary: "A local Azure Notification Hub: its REST API, fault injection, a page.",
            keys: EmulatorConfiguration.keys, read: { EmulatorConfiguration.read(&$0) },
            build: { configuration, context in
                try build(configuration, context: context) { connectionString in
                    // The one line on standard output: scripts read it. Logs go to standard error and never hold it.
                    FileHandle.standardOutput.write(Data((connectionString + "\n").utf8))
                }
            })
    }
}
