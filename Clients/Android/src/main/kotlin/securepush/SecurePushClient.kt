package securepush

import java.util.UUID
import java.util.concurrent.atomic.AtomicBoolean

/**
 * Receives secrets: verifies pushes, fetches, shows each secret once, and keeps the device registered.
 *
 * Everything that it uses is injected. Make one per process. All functions work on the caller's thread until they are
 * done, so call them on a background thread: Firebase's is one. An interrupt of that thread ends a wake soon.
 *
 * @param configuration the server and the app.
 * @param credentials the user's credentials.
 * @param store the memory between wakes.
 * @param transport sends the requests.
 * @param presenter shows the notifications.
 * @param clock the time.
 * @param threads the threads for requests.
 */
class SecurePushClient @JvmOverloads constructor(
    internal val configuration: SecurePushConfiguration,
    internal val credentials: CredentialsProvider,
    store: ClientStore,
    internal val transport: Transport,
    presenter: NotificationPresenter,
    internal val clock: ClientClock = SystemClientClock(),
    internal val threads: ClientThreads = SystemClientThreads()
) {
    internal val limits = configuration.limits
    internal val store: ClientStore = BoundedStore(store, clock, threads)
    internal val presenter = CarefulPresenter(presenter, CallLimit(clock, threads))
    /** Bounds the calls of the provider that know nothing of a deadline. */
    internal val userNameLimit = CallLimit(clock, threads)
    internal val keeper = StateKeeper(this.store)
    internal val connection =
        RetrievalConnection(configuration.retrievalUrl, limits, credentials, transport, clock, threads)
    /** Names this client in the claims of the store. Another process has another name. */
    internal val process = UUID.randomUUID().toString()
    private val catchUps = CatchUpTurns(clock, threads)
    /** Whether a wake reports shown notifications now. */
    internal val isReporting = AtomicBoolean()
    /** Whether a wake confirms withdrawals now. */
    internal val isConfirming = AtomicBoolean()
    /** Whether a wake reads the server's keys for pushes now. */
    internal val isRefreshingPushKeys = AtomicBoolean()
    /** Whether the channel changed while the store with the registration could not be read. */
    @Volatile internal var hasMissedRenewal = false
    internal val registrations = RegistrationTurns(clock, threads)
    /** Whether log-outs have left something to do that could be done now. */
    @Volatile internal var hasDepartures = false
    private val lock = Any()
    /** The notifications that are being fetched or shown now. */
    private val underWay = HashSet<PushID>()
    /** Counts the wakes. */
    private var wakes = 0

    /**
     * Handles a push: fetches and shows the secret, and then the inbox after the last known notification. A withdrawal
     * removes the notification from the screen.
     *
     * It never fails: if there is no secret, the user sees the generic text or the prompt, and the report says why.
     *
     * @param millis the longest time, if that is less than [ClientLimits.millisInTotal].
     */
    @JvmOverloads
    fun handle(push: IncomingPush, millis: Long = limits.millisInTotal): WakeReport = handle(push, millis) {}

    /** @param onAccepted called when the push is genuine, before anything is asked. */
    internal fun handle(push: IncomingPush, millis: Long, onAccepted: () -> Unit): WakeReport {
        if (!push.isOurs) return WakeReport(code = DiagnosticCode.MALFORMED_PUSH)
        val wake = begin(millis)
        val reception = receive(push, wake)
        if (reception !is Reception.Ignored) onAccepted()
        return when (reception) {
            is Reception.Locked -> showLockedNotice()
            is Reception.Ignored -> WakeReport(code = reception.code)
            is Reception.Unverified -> {
                presenter.show(GenericNotice(push.id, GenericNotice.Kind.GENERIC, DiagnosticCode.CREDENTIALS))
                WakeReport(
                    WakeReport.Result.FAILED, waiting = listOfNotNull(push.id), code = DiagnosticCode.CREDENTIALS
                )
            }
            is Reception.Unusable -> {
                presenter.show(GenericNotice(null, GenericNotice.Kind.GENERIC, DiagnosticCode.MALFORMED_PUSH))
                WakeReport.failed(DiagnosticCode.MALFORMED_PUSH)
            }
            is Reception.Withdrawn -> end(wake, WakeReport(WakeReport.Result.NEW_DATA) + catchUp(wake))
            is Reception.Settled -> end(wake, catchUp(wake))
            is Reception.Wanted -> {
                val report = fetchAndShow(reception.id, wake)
                val goesOn = report.code?.allowsCatchUp ?: true
                end(wake, if (goesOn) report + catchUp(wake) else report)
            }
        }
    }

    /**
     * Fetches the inbox and everything that waits, and removes the prompt if that succeeds. Call it when the app starts
     * and when it comes to the foreground.
     *
     * @param millis the longest time, if that is less than [ClientLimits.millisInTotal].
     */
    @JvmOverloads
    fun catchUp(millis: Long = limits.millisInTotal): WakeReport {
        val wake = begin(millis)
        wake.userChanges = (unlessLocked { adoptUser() } ?: return showLockedNotice()).userChanges
        val report = catchUp(wake)
        if (report.code == null || !(report.code.asksForLogIn || report.code == DiagnosticCode.LOCKED)) {
            unlessLocked { keeper.update { it.isPrompted = false } }
            presenter.removePrompt()
        }
        return end(wake, report)
    }

    /**
     * Shows everything that waits for the log-in, and removes the prompt. Call it after the user has logged in.
     *
     * If another user has logged in, the notifications of the last one are forgotten and removed from the screen.
     */
    fun resumeAfterLogIn(): WakeReport = catchUp()

    /** The notifications that wait: those behind the prompt, and those that could not be fetched yet; oldest first. */
    fun waiting(): List<PushID> = unlessLocked { keeper.read().ledger.waiting } ?: emptyList()

    /**
     * Registers the device for the user who is logged in, unless that is done: again when the channel, the tags or the
     * user change, and when [ClientLimits.renewsRegistrationAfter] has passed. Call it at each start of the app.
     *
     * The installation's ID is kept. When the server has given it up (410), or it belongs to another user (404), the
     * client makes a new one. With [SecurePushConfiguration.encryptsEndToEnd], each call sends the device's public key,
     * because the server forgets it with the installation. The next call sends it again.
     *
     * @return the installation's ID.
     * @throws SecurePushFailure if the server does not have the device now. With a [SecurePushFailure.installationID]
     *   it has the device, and may not have its key.
     */
    @Throws(SecurePushFailure::class)
    fun register(device: PushDevice): String {
        val wake = begin(limits.millisInTotal)
        return registrations.take(wake.deadline) { registerDevice(device, wake) }
    }

    /**
     * Logs the user out: first on this device, in one step that survives the end of the process, and also without a
     * network. The user's notifications, key, registration and credentials are gone then. After that the server forgets
     * the device and ends the session: now if it can be reached, or else at the next wake or start of the app, within a
     * day. Another user can log in meanwhile.
     *
     * With a [CredentialsProvider] of the app's own, this is [unregister]; the app ends its session after it.
     *
     * @return whether the server has forgotten the device now.
     * @throws SecurePushFailure if the credentials cannot be removed: before the first unlock, or with a broken store.
     */
    @Throws(SecurePushFailure::class)
    fun logOut(): Boolean = leave(endsSession = true)

    /**
     * Ends the registration as [logOut] does, and keeps the user logged in, for an app whose user wants no pushes any
     * more. The next [register] takes a new installation's ID.
     *
     * @return whether the server has forgotten the device now. If not, it is told later, while the user is logged in.
     * @throws SecurePushFailure before the first unlock.
     */
    @Throws(SecurePushFailure::class)
    fun unregister(): Boolean = leave(endsSession = false)

    /**
     * Lists the inbox, oldest first. Nothing is shown.
     *
     * @param after the [InboxPage.next] of the last page.
     * @param unreadOnly whether read notifications are left out.
     * @param withSecrets whether the entries have their secrets. The server marks all of them as read then, and a page
     *   has at most 20. Without them nothing is marked.
     * @throws SecurePushFailure if the server does not answer.
     */
    @JvmOverloads
    @Throws(SecurePushFailure::class)
    fun inbox(after: PushID? = null, unreadOnly: Boolean = false, withSecrets: Boolean = false): InboxPage =
        listInbox(after, unreadOnly, withSecrets)

    /**
     * Fetches one secret for a screen of the app, and decrypts it. It counts as read; nothing is shown. The text has
     * its whole length, unlike that of a notification.
     *
     * @throws SecurePushFailure if the secret cannot be had: 404 and 410 if the server does not have it any more,
     *   [DiagnosticCode.EXPIRED] if it has expired.
     */
    @Throws(SecurePushFailure::class)
    fun read(id: PushID): SecretNotification = readSecret(id)

    /**
     * Fetches the secret of a push and gives it to the app, which shows it in place of the SDK, once: a repeated push
     * has none. A withdrawal is carried out as by [handle].
     *
     * @param millis the longest time, if that is less than [ClientLimits.millisInTotal].
     * @return `null` if there is nothing to show: it was shown or withdrawn before.
     * @throws SecurePushFailure if the push is not genuine, or the secret cannot be had now. It waits for the next
     *   wake then.
     */
    @JvmOverloads
    @Throws(SecurePushFailure::class)
    fun secret(push: IncomingPush, millis: Long = limits.millisInTotal): SecretNotification? =
        fetchSecret(push, begin(millis))

    /**
     * Answers a notification whose sender asks for that (`Answers`). The first answer of the user's devices counts. The
     * same answer again is no error, so a call whose result was lost can be repeated. The notification counts as read
     * then, and leaves the screen.
     *
     * @param action the ID of one of the sender's answers, which is usually that of one of [Message.actions].
     * @param text what the user has written, at most 2,000 bytes.
     * @param challenge the digits or letters that the sender shows elsewhere, and that the user has entered here.
     * @throws AnswerFailure if it does not count.
     */
    @JvmOverloads
    @Throws(AnswerFailure::class)
    fun answer(id: PushID, action: String, text: String? = null, challenge: String? = null) =
        sendAnswer(id, action, text, challenge, begin(limits.millisInTotal).deadline)

    /**
     * The devices for which the user's pushes are, this one included.
     *
     * @throws SecurePushFailure if the server does not answer.
     */
    @Throws(SecurePushFailure::class)
    fun devices(): List<UserDevice> = listDevices()

    /**
     * Removes a device of the user: it gets no pushes any more, until its app registers it again. For this device it is
     * the same as [unregister].
     *
     * @param id [UserDevice.id].
     * @throws SecurePushFailure if the server still has it.
     * @throws IllegalArgumentException if the text cannot be an ID.
     */
    @Throws(SecurePushFailure::class)
    fun removeDevice(id: String) = removeInstallation(id)

    /**
     * Removes all devices of the user at the server, and logs the user out here. The others get no pushes any more. The
     * server has no way to end their sessions, so their apps can register again.
     *
     * @throws SecurePushFailure if the server still has them. The user is still logged in then.
     */
    @Throws(SecurePushFailure::class)
    fun signOutEverywhere() {
        removeAllDevices()
        logOut()
    }

    /**
     * Marks notifications as read without fetching them, removes them from the screen, and sets the badge.
     *
     * @param ids unknown IDs change nothing. A thousand are sent at once.
     * @throws SecurePushFailure if the server could not be told of all.
     */
    @Throws(SecurePushFailure::class)
    fun markAsRead(ids: List<PushID>) = markAsRead(ids, begin(limits.millisInTotal))

    /**
     * Marks all notifications up to this one as read, and sets the badge.
     *
     * @throws SecurePushFailure if the server could not be told.
     */
    @Throws(SecurePushFailure::class)
    fun markAsReadThrough(id: PushID) = markAsReadThrough(id, begin(limits.millisInTotal))

    /**
     * The fingerprint of this device's key for end-to-end encryption: 8 groups of 4 hexadecimal digits. A user compares
     * it with the one that a sender sees. `null` if there is no key, or before the first unlock.
     */
    fun encryptionKeyFingerprint(): String? = try {
        store.envelopeKeys().firstOrNull()?.fingerprint
    } catch (e: ClientStoreException) {
        null
    }

    internal fun begin(millis: Long): Wake = synchronized(lock) {
        wakes += 1
        Wake(wakes, clock.uptime + minOf(millis, limits.millisInTotal) - Wake.MILLIS_AFTER_REQUESTS)
    }

    /**
     * Fetches what is in the inbox and what waits, and shows it. One run serves all wakes that came before it began.
     */
    private fun catchUp(wake: Wake): WakeReport {
        val last = synchronized(lock) { wakes }
        return catchUps.take(wake, last) { runCatchUp(wake) }
    }

    /** Tells the server what was shown and who has left, confirms withdrawals, and renews keys that are old. */
    internal fun end(wake: Wake, report: WakeReport): WakeReport {
        reportShown(wake.deadline)
        confirmWithdrawals(wake.deadline)
        refreshOldPushKeys(wake.deadline)
        renewOldKey(wake.deadline)
        endDepartures(wake.deadline)
        return report
    }

    /** Takes a notification for this thread; `false` if another one has it. */
    internal fun enter(id: PushID): Boolean = synchronized(lock) { underWay.add(id) }

    internal fun leave(id: PushID) {
        synchronized(lock) { underWay.remove(id) }
    }

    internal fun isUnderWay(id: PushID): Boolean = synchronized(lock) { id in underWay }

    /** Whether the user is still the one for whom the wake began. A damaged store begins at 0 again. */
    internal fun isCurrent(wake: Wake): Boolean =
        (unlessLocked { keeper.read() }?.userChanges ?: 0) <= wake.userChanges

    /** Shows that messages may be waiting behind the lock: once per start of the device. */
    internal fun showLockedNotice(): WakeReport {
        if (store.claimLockedNotice()) {
            presenter.show(GenericNotice(null, GenericNotice.Kind.LOCKED, DiagnosticCode.LOCKED))
        }
        return WakeReport.failed(DiagnosticCode.LOCKED)
    }
}

/** One wake. A catch-up serves the wakes that came before it began, so they are counted. */
internal class Wake(
    val number: Int,
    /** The [ClientClock.uptime] at which its requests end. */
    val deadline: Long
) {
    /** [ClientState.userChanges] when it began. It shows nothing after the user has changed. */
    var userChanges = 0

    companion object {
        /**
         * The time from the end of the requests to that of the wake: the user sees something in place of what was not
         * fetched.
         */
        const val MILLIS_AFTER_REQUESTS = 50L
    }
}

/** Does something with the state; `null` before the first unlock. */
internal inline fun <R : Any> unlessLocked(action: () -> R): R? = try {
    action()
} catch (e: ClientStoreException) {
    null
}
