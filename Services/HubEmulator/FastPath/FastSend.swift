import HTTPTypes
import NIOCore
import ServiceRuntime

/// Takes a plain native send without a task: the same gate, reading and intake as ``SendController``, and its answer.
struct FastSend: Sendable {
    let gate: HubGate
    let intake: NotificationIntake
    let instruments: HTTPInstruments
    /// First segments of paths that are no hubs, in lower case.
    let reserved: Set<String>

    /// Whether there is nothing that only the routes do.
    var isOpen: Bool { !intake.faults.isActive }

    /// - Returns: false when the routes are to have the request: nothing was done, and they say what is wrong with it.
    func take(_ head: FastSendHead, body: [UInt8], start: NIODeadline, into buffer: inout ByteBuffer) -> Bool {
        guard isOpen, let call = try? gate.admit(head.knock, right: .send),
            let addressing = try? SendAddressing(kind: .send, format: head.format, tags: head.tags),
            addressing.format != .template, (try? WindowsRules.checkRaw(addressing.format, head.packed)) != nil
        else { return false }
        let send = SendRequest(addressing, handles: [], body: body, headers: head.packed, call: call)
        guard let receipt = intake.takeNow(send) else { return false }
        write(receipt, head, call, into: &buffer)
        instruments.record(
            route: "/{hub}/messages", method: .post, status: 201,
            nanoseconds: (NIODeadline.now() - start).nanoseconds)
        return true
    }

    /// The answer as ``SendController/accepted(_:document:)``, the middleware and the server make it.
    private func write(
        _ receipt: NotificationIntake.Receipt, _ head: FastSendHead, _ call: HubCall, into buffer: inout ByteBuffer
    ) {
        buffer.writeStaticString("HTTP/1.1 201 Created\r\nContent-Type: ")
        buffer.writeString(HubHeaders.xmlContentType)
        buffer.writeStaticString("\r\nLocation: ")
        buffer.writeString(SendController.location(of: receipt, call))
        buffer.writeStaticString("\r\nContent-Length: 0\r\nTrackingId: ")
        buffer.writeString(head.identity.trackingID)
        buffer.writeStaticString("\r\nx-ms-correlation-request-id: ")
        buffer.writeString(head.identity.correlationID)
        buffer.writeStaticString("\r\nx-request-id: ")
        buffer.writeString(RequestIdentifier.of(head.requestID))
        buffer.writeStaticString("\r\nDate: ")
        HTTPDate.write(receipt.record.receivedAt, to: &buffer)
        buffer.writeStaticString("\r\n\r\n")
    }
}
