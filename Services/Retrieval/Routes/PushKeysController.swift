import Domain
import Foundations
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceRuntime

/// The public keys for pushes, without credentials, because a new app has none yet, and the keys are not secret. `GET
/// /api/push-keys` has those with which devices verify pushes, and `GET /api/push-config` the one with which web apps
/// subscribe.
struct PushKeysController: Sendable {
    /// `nil` if there are none (`PUSH_VERIFICATION_KEYS_FILE`).
    let keys: PushKeysFile?
    /// `nil` if there is none (`WEB_PUSH_PUBLIC_KEY`).
    let applicationServerKey: ApplicationServerKey?

    @Sendable func show(_ request: Request, context: some RequestContext) async throws -> Response {
        guard let keys else { throw Problem.notFound("This server has no keys for pushes.") }
        // A device reads them when its app starts, and at the end of a wake if the last time was over an hour ago.
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "max-age=3600"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: keys.document)))
    }

    @Sendable func showConfiguration(_ request: Request, context: some RequestContext) async throws -> Response {
        guard let key = applicationServerKey else { throw Problem.notFound("This server has no key for web apps.") }
        // A page reads it at each visit. A subscription with the last key still works while the hub has both.
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "max-age=300"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: "{\"ApplicationServerKey\":\"\(key.text)\"}")))
    }
}

/// The file of the public keys for pushes, which is read again when it changes.
struct PushKeysFile: Sendable {
    private let file: ReloadingFile<[UInt8]>

    /// - Parameters:
    ///   - path: the file (`PUSH_VERIFICATION_KEYS_FILE`).
    ///   - logger: gets an error when a changed file cannot be used. The last keys stay in use then.
    /// - Throws: ``FileError`` if the file is missing, unreadable or malformed, and if it has a private key.
    init(path: String, logger: Logger) throws(FileError) {
        file = try ReloadingFile(
            path: path, logger: logger,
            message: "The changed public keys for pushes cannot be used; the last keys stay in use"
        ) { text in
            // Refuses private keys: everybody can read the set.
            _ = try PushVerificationKeys(jwks: text)
            return Array(text.utf8)
        }
    }

    /// The JSON Web Key Set, as it is in the file.
    var document: [UInt8] { file.current }

    var source: ReloadableSource { file.source("PUSH_VERIFICATION_KEYS_FILE") }
}
