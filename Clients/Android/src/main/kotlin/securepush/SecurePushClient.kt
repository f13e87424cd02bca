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
    transport: Transport,
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
    /** Whether the channel has changed while nobody knew whether the app wants it to be registered. */
    @Volatile internal var hasMissedRenewal = false
    /** Set when the last registration or unregistration has ended. */
    private var lastRegistration: ClientSignal? = null
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
     * because the server forgets it with the installation.
     *
     * @return the installation's ID.
     * @throws SecurePushFailure if the server does not have the device or its key now.
     */
    @Throws(SecurePushFailure::class)
    fun register(device: PushDevice): String = afterLastRegistration {
        registerDevice(device, begin(limits.millisInTotal))
    }

    /**
     * Removes the device from the server, and forgets the user's notifications. Call it before the log-out, while the
     * credentials are valid.
     *
     * @throws SecurePushFailure if the server still has the device. Pushes for the user still come then.
     */
    @Throws(SecurePushFailure::class)
    fun unregister() = afterLastRegistration { unregisterDevice(begin(limits.millisInTotal)) }

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

    /** Runs registrations and unregistrations one after another, so that the stored record is that of the last one. */
    internal fun <R> afterLastRegistration(work: () -> R): R {
        val own = threads.newSignal()
        val last = synchronized(lock) { lastRegistration.also { lastRegistration = own } }
        try {
            while (last != null && !last.await(limits.millisInTotal)) continue
            return work()
        } catch (e: InterruptedException) {
            Thread.currentThread().interrupt()
            throw SecurePushFailure(DiagnosticCode.TIMED_OUT)
        } finally {
            own.set()
        }
    }

    internal fun begin(millis: Long): Wake = synchronized(lock) {
        wakes += 1
        Wake(wakes, clock.uptime + minOf(millis, limits.millisInTotal))
    }

    /**
     * Fetches what is in the inbox and what waits, and shows it. One run serves all wakes that came before it began.
     */
    private fun catchUp(wake: Wake): WakeReport {
        val last = synchronized(lock) { wakes }
        return catchUps.take(wake, last) { runCatchUp(wake) }
    }

    /** Tells the server what was shown, confirms what was withdrawn in the meantime, and reads keys that are old. */
    private fun end(wake: Wake, report: WakeReport): WakeReport {
        reportShown(wake.deadline)
        confirmWithdrawals(wake.deadline)
        refreshOldPushKeys(wake.deadline)
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
    /** The [ClientClock.uptime] at which it ends. */
    val deadline: Long
) {
    /** [ClientState.userChanges] when it began. It shows nothing after the user has changed. */
    var userChanges = 0
}

/** Does something with the state; `null` before the first unlock. */
internal inline fun <R : Any> unlessLocked(action: () -> R): R? = try {
    action()
} catch (e: ClientStoreException) {
    null
}
