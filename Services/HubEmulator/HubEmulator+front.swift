import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import ServiceRuntime

extension HubEmulator {
    /// Puts a ``FastSendHandler`` behind the HTTP decoder of a connection. Nil at log levels that show each request,
    /// since the access log is the router's.
    static func makeFront(
        _ configuration: EmulatorConfiguration, router: Router<EmulatorContext>, state: EmulatorState,
        context: ServiceContext
    ) -> (@Sendable (any Channel) throws -> Void)? {
        guard context.logger.logLevel > .debug else { return nil }
        let firstSegments = router.routes.compactMap { $0.path.description.split(separator: "/").first }
        let fastSend = FastSend(
            gate: makeGate(configuration, hubs: state.hubs), intake: state.intake,
            instruments: HTTPInstruments(metrics: context.metrics),
            reserved: Set(firstSegments.map { $0.lowercased() }))
        let patience = TimeAmount(configuration.http.idleTimeout / 4)
        return { channel in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(FastSendHandler(fastSend, patience: patience), position: .after(decoder))
        }
    }
}
