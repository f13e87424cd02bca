import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import ServiceRuntime

@testable import HubEmulator

/// A connection with the real HTTP decoder, on which plain sends are answered past the routes.
enum FuzzConnection {
    private static let key = "a2V5"
    private static let connectionString = HubConnectionString(endpoint: "http://h/", keyName: "R", key: key)
    /// Of a token that never ends: seeds name it by `{TOKEN}`, whose bytes are put in here.
    private static let token = "SharedAccessSignature sr=http%3a%2f%2fh%2f&sig=\(signature)&se=99999999999&skn=R"

    private static let signature: String = {
        let code = HMACText.base64(of: "http%3a%2f%2fh%2f\n99999999999", key: key)
        return code.replacing("+", with: "%2b").replacing("/", with: "%2f").replacing("=", with: "%3d")
    }()

    /// Everything answered has a record, everything recorded an answer, and the routes get whole requests.
    static func run(_ bytes: [UInt8]) {
        let feed = EventFeed()
        let hubs = HubDirectory(endpointHost: "h")
        let log = RecordLog(capacity: 1000, feed: feed)
        let intake = NotificationIntake(
            hubs: hubs, devices: DeviceRegistry(capacity: 10, feed: feed), log: log, faults: FaultTable(),
            schedules: ScheduleBook())
        let configuration = EmulatorConfiguration(
            http: HTTPConfiguration(port: 0), connectionString: connectionString)
        let fastSend = FastSend(
            gate: HubGate(
                authorizer: HubAuthorizer(rules: configuration.rules, endpointHost: "h"), scheme: "http",
                endpointAuthority: "h", hubs: hubs),
            intake: intake, instruments: HTTPInstruments(metrics: PrometheusMetrics()), reserved: ["emulator"])
        let channel = EmbeddedChannel()
        let pipeline = channel.pipeline.syncOperations
        do {
            try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
            try pipeline.addHandler(FastSendHandler(fastSend, patience: .hours(1)))
            let text = String(decoding: bytes, as: UTF8.self).replacing("{TOKEN}", with: token)
            // In two pieces, as a network may.
            let whole = Array(text.utf8)
            let cut = whole.count / 2
            try channel.writeInbound(ByteBuffer(bytes: whole[..<cut]))
            try channel.writeInbound(ByteBuffer(bytes: whole[cut...]))
        } catch {}
        var answers = 0
        while let data = try? channel.readOutbound(as: IOData.self) {
            guard case .byteBuffer(let buffer) = data else { continue }
            answers += String(buffer: buffer).ranges(of: "HTTP/1.1 201 Created\r\n").count
        }
        precondition(answers == log.records(after: nil, limit: nil).count)
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }
}
