import AsyncHTTPClient
package import Domain
import Foundations
import Logging
import NIOCore
import NIOHTTP1

/// Reads the hub's feedback: `GET /HUB/feedbackcontainer` returns the URL of a container in Azure Storage, whose files
/// have one `PnsFeedback` element per rejected handle (Azure: "PNS feedback").
extension HubDevices: HubFeedback {
    /// Reads the files that are new or have grown, the newest ones if there are many.
    package func feedback(after versions: [String: String]) async throws -> FeedbackPage {
        let response = try await perform(.GET, "feedbackcontainer")
        try response.check()
        guard let container = FeedbackContainer(response.body, hub: endpoint) else {
            throw PushGatewayError(.unavailable, "the hub sent no URL of its feedback that can be used")
        }
        var page = FeedbackPage(channels: [], versions: [:])
        for file in try await files(of: container).suffix(FeedbackContainer.maxFiles) {
            if let version = file.version {
                page.versions[file.name] = version
                if versions[file.name] == version { continue }
            }
            guard let text = try await text(at: container.url(of: file)) else {
                logger.warning("A file of the hub's feedback is too large and was not read")
                continue
            }
            page.channels += FeedbackRecords.deadChannels(text)
        }
        return page
    }

    /// All files of the container, in the order of their names, which begin with the date.
    private func files(of container: FeedbackContainer) async throws -> [FeedbackContainer.File] {
        var files: [FeedbackContainer.File] = []
        var marker = ""
        for _ in 0..<FeedbackContainer.maxPages {
            guard let list = try await text(at: container.listURL(from: marker)) else {
                throw PushGatewayError(.unavailable, "the list of the hub's feedback is too large")
            }
            files += FeedbackContainer.files(inList: list)
            marker = list.text(ofElement: "NextMarker") ?? ""
            if marker.isEmpty { break }
        }
        return files
    }

    /// Reads a document of the container. The URL has its own signature, so the key of the hub is not used.
    ///
    /// - Returns: `nil` if it is larger than ``FeedbackContainer/maxBytes``.
    private func text(at url: String) async throws -> String? {
        do {
            let (response, body) = try await exchange(HTTPClientRequest(url: url), upTo: FeedbackContainer.maxBytes)
            guard response.status == .ok else {
                throw PushGatewayError(.unavailable, "the hub's feedback answered HTTP \(response.status.code)")
            }
            return String(buffer: body)
        } catch is NIOTooManyBytesError {
            return nil
        } catch let error as PushGatewayError {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // Only the kind of the error: its text may hold the signed URL.
            let kind = (error as? HTTPClientError)?.shortDescription ?? "\(type(of: error))"
            throw PushGatewayError(.unavailable, "the hub's feedback did not answer (\(kind))")
        }
    }
}

/// The container of a hub's feedback, by its signed URL.
struct FeedbackContainer {
    /// A file, which Azure Storage calls a blob.
    struct File: Equatable {
        var name: String
        /// Its `Etag`; `nil` if the list does not tell.
        var version: String?
    }

    /// The bound of one file and of one page of the list.
    static let maxBytes = 16 << 20
    static let maxFiles = 100
    /// Pages of the list; one has at most 5,000 files.
    static let maxPages = 20

    private let base: String
    private let signature: String

    /// Where Azure keeps feedback.
    private static let storage = ".blob.core.windows.net"

    /// - Returns: `nil` for a URL that is neither on the hub's own host nor, by https, in Azure Storage. The hub must
    ///   not make this service ask any other server.
    init?(_ text: String, hub: HubEndpoint) {
        let url = text.filter { !$0.isWhitespace }
        guard url.utf8.count <= 4096, ByteSet.visible.containsAll(url),
            (url + "/").hasPrefix(hub.url + "/") || Self.isInStorage(url)
        else { return nil }
        let parts = url.split(separator: "?", maxSplits: 1)
        base = String(parts[0])
        signature = parts.count > 1 ? String(parts[1]) : ""
    }

    /// The host has nothing beside it, such as a user or a port, that another program could read in another way.
    private static func isInStorage(_ url: String) -> Bool {
        let scheme = "https://"
        guard url.hasPrefix(scheme) else { return false }
        let host = url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }.lowercased()
        let allowed = ByteSet("abcdefghijklmnopqrstuvwxyz-.").union(.digits)
        return host.hasSuffix(storage) && host.utf8.count > storage.utf8.count && allowed.containsAll(host)
    }

    func listURL(from marker: String) -> String {
        var query = "restype=container&comp=list"
        if !marker.isEmpty { query += "&marker=" + PercentCoding.encode(marker) }
        return base + "?" + (signature.isEmpty ? query : signature + "&" + query)
    }

    func url(of file: File) -> String {
        let path = PercentCoding.encode(file.name, keeping: ByteSet.unreserved.union(ByteSet("/")))
        return base + "/" + path + (signature.isEmpty ? "" : "?" + signature)
    }

    /// The files of a page (Azure Storage: "List Blobs").
    static func files(inList xml: String) -> [File] {
        xml.elements("Blob").compactMap { blob in
            blob.text(ofElement: "Name").map { File(name: $0, version: blob.text(ofElement: "Etag")) }
        }
    }
}

/// The records of a file of feedback.
enum FeedbackRecords {
    /// The outcomes that reject a handle for good. A disconnected channel of Windows can come back.
    private static let fatal: Set<String> = ["BadChannel", "ExpiredChannel", "WrongToken"]

    /// The rejected handles. Records that cannot be read are left out.
    static func deadChannels(_ text: String) -> [DeadChannel] {
        text.elements("PnsFeedback").compactMap { record in
            guard let outcome = record.text(ofElement: "NotificationSystemError"), fatal.contains(outcome),
                let handle = record.text(ofElement: "PnsHandle"), !handle.isEmpty,
                let time = record.text(ofElement: "FeedbackTime").flatMap({ Timestamp(iso8601: $0) })
            else { return nil }
            return DeadChannel(handle: handle, rejectedAt: time)
        }
    }
}
