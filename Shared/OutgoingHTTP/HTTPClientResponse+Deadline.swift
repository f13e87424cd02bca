package import AsyncHTTPClient
package import NIOCore

extension HTTPClientResponse.Body {
    /// The whole body, if it arrives in time.
    ///
    /// AsyncHTTPClient's deadline of a request ends with the head of its response, and its read timeout begins anew
    /// with every byte. A server that sends a body slowly, or never ends it, would hold the caller for ever.
    ///
    /// - Throws: `HTTPClientError.readTimeout`, `NIOTooManyBytesError`, an error of the connection, or
    ///   `CancellationError`. The connection is closed.
    package func collect(upTo maxBytes: Int, within limit: Duration) async throws -> ByteBuffer {
        try await withThrowingTaskGroup(of: ByteBuffer?.self) { group in
            group.addTask { try await collect(upTo: maxBytes) }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let body = try await group.next() ?? nil else { throw HTTPClientError.readTimeout }
            return body
        }
    }
}
