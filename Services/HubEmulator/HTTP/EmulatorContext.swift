import Hummingbird
import Logging
import NIOCore

/// The request context of the emulator: Hummingbird's own, and the channel, so that a fault can cut the connection.
struct EmulatorContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
