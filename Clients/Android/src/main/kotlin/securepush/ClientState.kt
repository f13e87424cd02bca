package securepush

/** The state of a client. Stores treat it as one value, which [ClientStateCoding] turns into JSON and back. */
class ClientState internal constructor() {
    /** The user whose notifications the state is about. */
    internal var owner: String? = null
    /** How often the user has changed, or the device was unregistered. */
    internal var userChanges = 0
    /** The notifications that the client knows. */
    internal var ledger = SecretLedger()
    /** The newest notification that the client has seen in the inbox. */
    internal var cursor: PushID? = null
    /** Whether the user was asked to log in. */
    internal var isPrompted = false
    /**
     * Withdrawn notifications that this device may have been the first to read. The server is asked whether they still
     * exist.
     */
    internal var unconfirmed: List<PushID> = emptyList()
    /** What the user has seen and of which the server has not been told, oldest first. */
    internal var unreported: List<ShownReport> = emptyList()
    /** The device's registration. */
    internal var registration = RegistrationRecord()
    /** The user for whom the device's key for end-to-end encryption was made. */
    internal var keyOwner: String? = null
    /** When the age of that key was last looked at, in milliseconds since 1970. */
    internal var keyCheckedAt: Long? = null
    /** Keys for pushes from `GET /api/push-keys`. They replace the configured ones. */
    internal var pushKeys: PushKeySet? = null
    /** When [pushKeys] came, in milliseconds since 1970. */
    internal var pushKeysReadAt: Long? = null
    /** When the client last asked for [pushKeys] after a signature by an unknown key, in milliseconds since 1970. */
    internal var pushKeysAskedAt: Long? = null
    /** The process that refreshes the credentials now. */
    internal var refreshLease: RefreshLease? = null

    /** A copy that can be changed. */
    internal fun copy(): ClientState {
        val copy = ClientState()
        copy.owner = owner
        copy.userChanges = userChanges
        copy.ledger = ledger.copy()
        copy.cursor = cursor
        copy.isPrompted = isPrompted
        copy.unconfirmed = unconfirmed
        copy.unreported = unreported
        copy.registration = registration
        copy.keyOwner = keyOwner
        copy.keyCheckedAt = keyCheckedAt
        copy.pushKeys = pushKeys
        copy.pushKeysReadAt = pushKeysReadAt
        copy.pushKeysAskedAt = pushKeysAskedAt
        copy.refreshLease = refreshLease
        return copy
    }

    private val parts: List<Any?>
        get() = listOf(
            owner, userChanges, ledger, cursor, isPrompted, unconfirmed, unreported, registration, keyOwner,
            keyCheckedAt, pushKeys, pushKeysReadAt, pushKeysAskedAt, refreshLease
        )

    override fun equals(other: Any?): Boolean = other is ClientState && other.parts == parts

    override fun hashCode(): Int = parts.hashCode()

    /** Takes over what was noted while the store could not be written. */
    internal fun merge(other: ClientState) {
        // Another process has changed the user in the meantime.
        if (other.userChanges < userChanges) return
        if (other.userChanges != userChanges || (owner != null && other.owner != owner)) {
            owner = other.owner
            userChanges = other.userChanges
            ledger = other.ledger.copy()
            cursor = other.cursor
            isPrompted = other.isPrompted
            unconfirmed = other.unconfirmed
            unreported = other.unreported
        } else {
            owner = other.owner
            ledger.merge(other.ledger)
            cursor = other.cursor ?: cursor
            isPrompted = other.isPrompted
            unconfirmed = (unconfirmed + other.unconfirmed).distinct()
            other.unreported.forEach { report(it) }
        }
        // A state that could not be read knows nothing of them.
        if (other.registration != RegistrationRecord()) registration = other.registration
        keyOwner = other.keyOwner ?: keyOwner
        keyCheckedAt = other.keyCheckedAt ?: keyCheckedAt
        pushKeysAskedAt = other.pushKeysAskedAt ?: pushKeysAskedAt
        if (other.pushKeys != null) {
            pushKeys = other.pushKeys
            pushKeysReadAt = other.pushKeysReadAt
        }
    }

    /**
     * Notes the user. Another user's notifications are forgotten.
     *
     * @return the IDs that are to be removed from the screen.
     */
    internal fun adopt(userName: String): List<PushID> {
        if (owner == null || owner == userName) {
            owner = userName
            return emptyList()
        }
        return forget(userName)
    }

    /**
     * Forgets the user's notifications. The installation's ID, the registration and the keys stay.
     *
     * @return the IDs that are to be removed from the screen.
     */
    internal fun forget(newOwner: String?): List<PushID> {
        val ids = ledger.entries.map { it.id }
        ledger = SecretLedger()
        cursor = null
        isPrompted = false
        unreported = emptyList()
        unconfirmed = emptyList()
        owner = newOwner
        userChanges += 1
        return ids
    }

    /**
     * Notes a withdrawal.
     *
     * An unsigned one may come from anybody who can push, so the server must confirm it.
     *
     * A withdrawal also follows when one of the user's devices has read the notification (`DISPATCH_WITHDRAW=read`),
     * and reaches that device too. If this device may have been the first to read it, the server has to confirm the
     * withdrawal first. That includes a request without an answer: the process may have died, or the network failed,
     * after the server had marked it as read.
     *
     * @return whether it is to be removed from the screen now.
     */
    internal fun withdraw(id: PushID, isSigned: Boolean, limits: ClientLimits): Boolean {
        if (!isSigned || ledger[id]?.mayHaveBeenRead == true) {
            confirmLater(id)
            return false
        }
        endWithdrawn(id, limits)
        return true
    }

    /** Notes that a notification is withdrawn for good. */
    internal fun endWithdrawn(id: PushID, limits: ClientLimits) {
        unconfirmed = unconfirmed - id
        ledger.withdraw(id, limits)
    }

    /**
     * Ends the prompt to log in, if nothing waits behind it.
     *
     * @return whether it is to be removed from the screen.
     */
    internal fun endEmptyPrompt(): Boolean {
        if (!isPrompted || ledger.waiting.isNotEmpty()) return false
        isPrompted = false
        return true
    }

    /** Notes that the server is being asked for a notification. */
    internal fun request(id: PushID) = FetchRequest(ledger.markRequested(id), userChanges)

    /** Notes that the server has marked nothing as read for a request. */
    internal fun unrequest(id: PushID, request: FetchRequest) {
        if (userChanges == request.userChanges) ledger.unmarkRequested(id)
    }

    /**
     * Claims the right to show a secret, unless the user has changed since the client asked for it. If it was withdrawn
     * while this device, its first reader, fetched it, it is shown, and the server has to confirm the withdrawal. If
     * another device was the first, the withdrawal holds, if it was signed.
     *
     * @param uptime the [ClientClock.uptime].
     */
    internal fun claim(
        secret: SecretNotification, request: FetchRequest, process: String, uptime: Long, isSigned: Boolean,
        limits: ClientLimits
    ): SecretLedger.Claim {
        // A damaged store begins at 0 again. Its secrets are shown.
        if (userChanges > request.userChanges) return SecretLedger.Claim.Settled
        val isFirstReader = !secret.wasRead || request.isRepeated
        val entry = ledger[secret.id]
        val isOthers = entry?.progress == SecretLedger.Progress.PENDING && !entry.isFirstReader && !isFirstReader
        if (isOthers && isSigned && secret.id in unconfirmed) {
            endWithdrawn(secret.id, limits)
            return SecretLedger.Claim.Withdrawn
        }
        val claim = ledger.claim(secret.id, process, isFirstReader, uptime, limits)
        val wasWithdrawn = entry?.progress == SecretLedger.Progress.WITHDRAWN
        if (claim is SecretLedger.Claim.Granted && wasWithdrawn) confirmLater(secret.id)
        return claim
    }

    private fun confirmLater(id: PushID) {
        unconfirmed = (if (id in unconfirmed) unconfirmed else unconfirmed + id).takeLast(MAX_UNSENT)
    }

    /** Notes what the user sees, so that the server is told. A secret takes the place of its generic text. */
    internal fun report(report: ShownReport) {
        val earlier = unreported.find { it.id == report.id }
        if (earlier != null && (earlier.isSecret || !report.isSecret)) return
        unreported = (unreported.filter { it.id != report.id } + report).takeLast(MAX_UNSENT)
    }

    private companion object {
        /** The list of reports is limited, so that the state stays small. */
        const val MAX_UNSENT = 200
    }
}

/** The state at the moment at which the client asked for a notification. */
internal data class FetchRequest(
    /** Whether this device has asked for it before without an answer. The server may have marked it as read then. */
    val isRepeated: Boolean,
    /** [ClientState.userChanges]. */
    val userChanges: Int
)

/** The registration of this device, as far as the client remembers it. */
internal data class RegistrationRecord(
    /** The installation's ID, which the client chooses once. */
    val installationID: String? = null,
    /** The user for whom the device is registered; `null` if it is not. */
    val userName: String? = null,
    /** A digest of the platform, the channel and the tags. */
    val digest: String? = null,
    /** When it was registered, in milliseconds since 1970. */
    val registeredAt: Long? = null,
    /** The public key that the server has got since the device was registered, in base64url. */
    val publicKey: String? = null,
    /** Whether the app has registered the device and not unregistered it: then a new channel is registered, too. */
    val isWanted: Boolean = false
)

/**
 * The exclusive right of one process to refresh the credentials. A refresh token that is used twice ends the session.
 */
internal data class RefreshLease(
    val process: String,
    /** The [ClientClock.uptime]. The time of day could jump, and then two processes would refresh. */
    val takenAt: Long
)
