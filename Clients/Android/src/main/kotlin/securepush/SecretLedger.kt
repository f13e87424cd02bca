package securepush

/**
 * The notifications that the client knows, and how far it has come with each of them.
 *
 * This is what keeps a secret from being lost or shown twice when the process dies between two steps:
 *
 * 1. [Progress.PENDING] is stored before anything is asked. A later wake goes on with it.
 * 2. [Progress.CLAIMED] is stored when the payload is here, before it is shown. Another process leaves it alone. After
 *    a crash it is in doubt, and the presenter is asked whether the user sees the secret.
 * 3. [Progress.SHOWN] is stored after it was shown.
 */
internal class SecretLedger(entries: List<Entry> = emptyList()) {
    /** The client's progress with one notification. A later progress has a higher rank. */
    enum class Progress {
        /** It must be fetched. */
        PENDING,
        /** The server has no such notification for this user. Another push for it tries again. */
        GONE,
        /** Fetched, and about to be shown by the process [Entry.claimant]. */
        CLAIMED,
        /** Shown. Final. */
        SHOWN,
        /** Withdrawn by the sender, or read on another device. Final. */
        WITHDRAWN;

        /** Whether nothing is left to do. */
        val isSettled: Boolean get() = this != PENDING && this != CLAIMED
    }

    data class Entry(
        val id: PushID,
        val progress: Progress,
        /** The process that shows it; `null` unless it is claimed. */
        val claimant: String? = null,
        /** The [ClientClock.uptime] of the claim. The time of day could jump, and then two processes would show it. */
        val claimedAt: Long? = null,
        /** Whether the user has seen the generic text or the prompt for it. */
        val isNoticed: Boolean = false,
        /**
         * How many requests for it have no clear answer: those that are under way, and those whose answer was lost. The
         * server may have marked it as read for each of them.
         */
        val openRequests: Int = 0,
        /** Whether this device may have been the first of the user's devices that fetched it. */
        val isFirstReader: Boolean = false,
        /** When it expires, in milliseconds since 1970, as long as it may be on the screen. */
        val expiresAt: Long? = null,
        /** Whether the user has seen the generic text, and the app has still to show the secret. */
        val isInAppOnly: Boolean = false
    ) {
        /** Whether this device's own fetch may have caused a withdrawal (see [ClientState.withdraw]). */
        val mayHaveBeenRead: Boolean
            get() = progress != Progress.WITHDRAWN &&
                (isFirstReader || (progress == Progress.PENDING && openRequests > 0))
    }

    /** In the order in which the client learned of them. */
    var entries: List<Entry> = entries
        private set

    fun copy() = SecretLedger(entries)

    override fun equals(other: Any?): Boolean = other is SecretLedger && other.entries == entries

    override fun hashCode(): Int = entries.hashCode()

    operator fun get(id: PushID): Entry? = entries.lastOrNull { it.id == id }

    /** The notifications that are still to be shown, in order. */
    val waiting: List<PushID> get() = entries.filter { it.progress == Progress.PENDING }.map { it.id }

    /**
     * The notifications that are still to be shown: first those that have not failed, so that one that always fails
     * does not keep the others waiting.
     */
    val fetchOrder: List<PushID>
        get() {
            val (noticed, fresh) = entries.filter { it.progress == Progress.PENDING }.partition { it.isNoticed }
            return (fresh + noticed).map { it.id }
        }

    /** The notification that was shown last. */
    val lastShown: PushID? get() = entries.lastOrNull { it.progress == Progress.SHOWN }?.id

    /**
     * Notes that a notification exists, for example because a push or the inbox names it.
     *
     * @return whether it is to be fetched. One that was shown or withdrawn is not; one that is claimed may be.
     */
    fun learn(id: PushID, limits: ClientLimits): Boolean {
        val entry = this[id]
        if (entry == null) {
            append(Entry(id, Progress.PENDING), limits)
            return true
        }
        if (entry.progress == Progress.GONE) replace(entry.copy(progress = Progress.PENDING))
        return !entry.progress.isSettled || entry.progress == Progress.GONE
    }

    /**
     * Notes that the server is being asked for a notification.
     *
     * @return whether an earlier request has no clear answer.
     */
    fun markRequested(id: PushID): Boolean {
        val entry = this[id] ?: return false
        replace(entry.copy(openRequests = minOf(entry.openRequests + 1, MAX_OPEN_REQUESTS)))
        return entry.openRequests > 0
    }

    /** Notes that the server has refused a request for a notification, or was not asked after all. */
    fun unmarkRequested(id: PushID) {
        val entry = this[id] ?: return
        replace(entry.copy(openRequests = maxOf(0, entry.openRequests - 1)))
    }

    /** The answer to a process that has fetched a secret and wants to show it. */
    sealed class Claim {
        /** Show it. */
        object Granted : Claim()
        /** It was shown or withdrawn. */
        object Settled : Claim()
        /** Its withdrawal came while it was being fetched, and another device is the reader. It is to be removed. */
        object Withdrawn : Claim()
        /** Another process is about to show it. */
        class Held(val millis: Long) : Claim()
        /** Another process was about to show it, and has not said whether it did. */
        object InDoubt : Claim()
    }

    /**
     * Claims the right to show a secret.
     *
     * @param isFirstReader whether no device of the user had fetched it before. Then a withdrawal that came in the
     *   meantime may have been caused by this fetch (see [ClientState.withdraw]).
     * @param uptime the [ClientClock.uptime].
     */
    fun claim(id: PushID, process: String, isFirstReader: Boolean, uptime: Long, limits: ClientLimits): Claim {
        val entry = this[id]
        if (entry == null) {
            append(Entry(id, Progress.CLAIMED, process, uptime, isFirstReader = isFirstReader), limits)
            return Claim.Granted
        }
        when (entry.progress) {
            Progress.SHOWN -> return Claim.Settled
            Progress.WITHDRAWN -> if (!isFirstReader) return Claim.Settled
            Progress.CLAIMED -> {
                if (entry.claimant == process) return Claim.Settled
                val millis = millisLeft(entry, uptime, limits)
                return if (millis > 0) Claim.Held(millis) else Claim.InDoubt
            }
            Progress.PENDING, Progress.GONE -> Unit
        }
        replace(
            entry.copy(
                progress = Progress.CLAIMED, claimant = process, claimedAt = uptime,
                isFirstReader = isFirstReader || entry.isFirstReader,
                openRequests = maxOf(0, entry.openRequests - 1)
            )
        )
        return Claim.Granted
    }

    /** The time until a claim is in doubt. The uptime begins anew with the device, which ends all its processes. */
    private fun millisLeft(claim: Entry, uptime: Long, limits: ClientLimits): Long {
        val age = uptime - (claim.claimedAt ?: return 0)
        return if (age >= 0) maxOf(0, limits.claimMillis - age) else 0
    }

    /** The claim of another process. */
    class OtherClaim(
        val id: PushID,
        val process: String?,
        /** The time until it expires and is in doubt; 0 if it has expired. */
        val millisLeft: Long
    )

    /** The claims of all processes but this one. */
    fun claims(process: String, uptime: Long, limits: ClientLimits): List<OtherClaim> =
        entries.filter { it.progress == Progress.CLAIMED && it.claimant != process }
            .map { OtherClaim(it.id, it.claimant, millisLeft(it, uptime, limits)) }

    /** How the claim of a process ended. */
    enum class End {
        /** Noted. */
        NOTED,
        /** The notification was withdrawn in the meantime: it must be removed from the screen. */
        WITHDRAWN,
        /** The process has no claim any more. */
        LOST
    }

    /**
     * Ends a claim.
     *
     * @param isShown whether the user sees the secret. If not, it waits for the next wake.
     */
    fun settle(id: PushID, process: String?, isShown: Boolean): End {
        val entry = this[id] ?: return End.LOST
        if (entry.progress == Progress.WITHDRAWN) return End.WITHDRAWN
        if (entry.progress != Progress.CLAIMED || entry.claimant != process) return End.LOST
        val progress = if (isShown) Progress.SHOWN else Progress.PENDING
        replace(entry.copy(progress = progress, claimant = null, claimedAt = null))
        return End.NOTED
    }

    /** Notes when a secret expires, and whether it is for the app only. */
    fun describe(id: PushID, expiresAt: Long?, isInAppOnly: Boolean) {
        replace((this[id] ?: return).copy(expiresAt = expiresAt, isInAppOnly = isInAppOnly))
    }

    private fun expired(date: Long): List<Entry> =
        entries.filter { it.progress == Progress.SHOWN && it.expiresAt != null && it.expiresAt <= date }

    /** Whether something has expired that may be on the screen. */
    fun hasExpired(date: Long): Boolean = expired(date).isNotEmpty()

    /**
     * Notes that what has expired is removed from the screen.
     *
     * @return the notifications.
     */
    fun takeExpired(date: Long): List<PushID> {
        val expired = expired(date)
        for (entry in expired) replace(entry.copy(expiresAt = null))
        return expired.map { it.id }
    }

    /**
     * Notes that the app has shown a secret.
     *
     * @return whether that is news for the server.
     */
    fun readInApp(id: PushID): Boolean {
        val entry = this[id]?.takeIf { it.isInAppOnly } ?: return false
        replace(entry.copy(isInAppOnly = false))
        return true
    }

    /** Notes that a notification was withdrawn, also before its push has come. */
    fun withdraw(id: PushID, limits: ClientLimits) {
        val entry = this[id]
        if (entry == null) {
            append(Entry(id, Progress.WITHDRAWN), limits)
        } else {
            replace(entry.copy(progress = Progress.WITHDRAWN, claimant = null, claimedAt = null))
        }
    }

    /**
     * Notes that the user sees the generic text or the prompt for a notification.
     *
     * @param isGone whether it is not to be fetched again, unless another push names it.
     * @return whether it is the first time.
     */
    fun notice(id: PushID, isGone: Boolean = false): Boolean {
        val entry = this[id] ?: return true
        val progress = if (isGone && entry.progress == Progress.PENDING) Progress.GONE else entry.progress
        replace(entry.copy(progress = progress, isNoticed = true))
        return !entry.isNoticed
    }

    /** Takes over what was noted while the store could not be written. */
    fun merge(other: SecretLedger) {
        for (theirs in other.entries) {
            val ours = this[theirs.id]
            if (ours == null) {
                entries = entries + theirs
                continue
            }
            val later = if (theirs.progress > ours.progress) theirs else ours
            replace(
                later.copy(
                    isNoticed = ours.isNoticed || theirs.isNoticed,
                    openRequests = maxOf(ours.openRequests, theirs.openRequests)
                )
            )
        }
    }

    private fun replace(entry: Entry) {
        val index = entries.indexOfLast { it.id == entry.id }
        entries = entries.toMutableList().also { it[index] = entry }
    }

    /**
     * Adds an entry, and forgets the oldest: of those that are settled, if there are any. Nothing is forgotten by its
     * age, because a clock that jumps would show a secret again.
     */
    private fun append(entry: Entry, limits: ClientLimits) {
        val kept = ArrayList(entries + entry)
        while (kept.size > maxOf(1, limits.maxRememberedIDs)) {
            kept.removeAt(maxOf(0, kept.indexOfFirst { it.progress.isSettled }))
        }
        entries = kept
    }

    private companion object {
        /** Higher counts make no difference. */
        const val MAX_OPEN_REQUESTS = 1_000
    }
}
