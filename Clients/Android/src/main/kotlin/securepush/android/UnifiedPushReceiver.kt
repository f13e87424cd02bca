package securepush.android

import android.content.Context
import android.os.PowerManager
import org.unifiedpush.android.connector.FailedReason
import org.unifiedpush.android.connector.MessagingReceiver
import org.unifiedpush.android.connector.data.PushEndpoint
import org.unifiedpush.android.connector.data.PushMessage
import org.unifiedpush.android.connector.keys.KeyManager
import securepush.ClientStoreException
import securepush.DiagnosticCode
import securepush.IncomingPush
import securepush.PushDevice
import securepush.Renewal
import securepush.SecurePushClient
import securepush.SecurePushFailure
import securepush.WakeReport
import securepush.WebPushSubscription
import securepush.loseChannel
import securepush.renewRegistration

/** Why no pushes come by UnifiedPush. */
enum class DistributorProblem {
    /** The distributor has ended the registration, or was removed. The user chooses one again. */
    UNREGISTERED,
    /** The distributor does not reach its server. It gives a new endpoint when it does. */
    UNAVAILABLE,
    /** The distributor had no network. A job tries again. */
    NETWORK,
    /** The distributor failed, or gave an endpoint that cannot be used. A job tries again. */
    FAILED,
    /** The user has to open the distributor, for example to log in. */
    ACTION_REQUIRED,
    /** The distributor wants a key of the server, which has none: `WEB_PUSH_PUBLIC_KEY`. */
    SERVER_KEY_REQUIRED
}

/**
 * Receives the messages of a UnifiedPush distributor, if the app's channel is a [UnifiedPushChannel]. The app's
 * manifest names it, or a subclass of it: the library's own receiver, which the app's takes the place of, has keys of
 * its own.
 *
 * An app with registrations of its own overrides the functions of the library, and passes those of the SDK's instance
 * to `super`. The library calls them on the main thread. The work is done on another one, while the system waits for
 * the receiver; what is left when the time is up is done by a job.
 */
open class UnifiedPushReceiver : MessagingReceiver() {
    /** The longest time for one message, in milliseconds: Android gives a receiver 10 s in the worst case. */
    protected open val millisPerMessage: Long get() = 9_000

    /** A message has been handled, or a new endpoint has led to a catch-up. It is called on a background thread. */
    protected open fun onWake(context: Context, report: WakeReport) = Unit

    /** The server has the device with the distributor's endpoint. It is called on a background thread. */
    protected open fun onRegistered(context: Context) = Unit

    /** The server has not taken the endpoint. A job tries again if that helps. It is called on a background thread. */
    protected open fun onNotRegistered(context: Context, failure: SecurePushFailure) = Unit

    /** No pushes come at the moment. It is called on the main thread. */
    protected open fun onDistributorProblem(context: Context, problem: DistributorProblem) = Unit

    override fun getKeyManager(context: Context): KeyManager = channel(context)?.keys ?: super.getKeyManager(context)

    override fun onMessage(context: Context, message: PushMessage, instance: String) {
        val channel = channel(context, instance) ?: return
        inBackground(context) { host ->
            onWake(context, handle(message.content, channel, host.securePushClient, context))
        }
    }

    private fun handle(
        body: ByteArray, channel: UnifiedPushChannel, client: SecurePushClient, context: Context
    ): WakeReport {
        val job = CatchUpJob(context)
        val opening = try {
            channel.keys.open(body)
        } catch (e: ClientStoreException) {
            if (e.isLocked) return client.showLockedNotice()
            job.scheduleUnlessPending()
            return WakeReport.failed(DiagnosticCode.NO_KEY)
        }
        if (opening is UnifiedPushKeys.Opening.Content) {
            val push = IncomingPush.ofWebPush(opening.bytes)
            val report = client.handle(push, millisPerMessage) { job.schedule() }
            job.end(report, client)
            return report
        }
        // It may be a push for earlier keys. The job looks into the inbox, and gets new ones to the server.
        if (opening is UnifiedPushKeys.Opening.NoKeys) client.loseChannel()
        job.scheduleUnlessPending()
        return WakeReport(code = DiagnosticCode.MALFORMED_PUSH)
    }

    override fun onNewEndpoint(context: Context, endpoint: PushEndpoint, instance: String) {
        channel(context, instance) ?: return
        val subscription = endpoint.pubKeySet?.let { WebPushSubscription.of(endpoint.url, it.pubKey, it.auth) }
            ?: return onDistributorProblem(context, DistributorProblem.FAILED)
        inBackground(context) { host -> register(host.securePushDevice(subscription), host.securePushClient, context) }
    }

    private fun register(device: PushDevice, client: SecurePushClient, context: Context) {
        val end = client.clock.uptime + millisPerMessage
        val job = CatchUpJob(context)
        try {
            val renewal = client.renewRegistration(device, millisPerMessage)
            if (renewal != Renewal.UNWANTED) onRegistered(context)
            if (renewal != Renewal.CHANGED) return
            // Pushes to the last endpoint are lost.
            job.scheduleUnlessPending()
            val report = client.catchUp(maxOf(0, end - client.clock.uptime))
            job.end(report, client)
            onWake(context, report)
        } catch (e: SecurePushFailure) {
            // Otherwise the app registers at its next start.
            if (e.code.canHeal) job.scheduleUnlessPending()
            onNotRegistered(context, e)
        }
    }

    override fun onRegistrationFailed(context: Context, reason: FailedReason, instance: String) {
        channel(context, instance) ?: return
        val problem = when (reason) {
            FailedReason.NETWORK -> DistributorProblem.NETWORK
            FailedReason.ACTION_REQUIRED -> DistributorProblem.ACTION_REQUIRED
            FailedReason.VAPID_REQUIRED -> DistributorProblem.SERVER_KEY_REQUIRED
            else -> DistributorProblem.FAILED
        }
        val isTriedAgain = problem == DistributorProblem.NETWORK || problem == DistributorProblem.FAILED
        if (isTriedAgain) CatchUpJob(context).scheduleUnlessPending()
        onDistributorProblem(context, problem)
    }

    override fun onUnregistered(context: Context, instance: String) {
        channel(context, instance) ?: return
        onDistributorProblem(context, DistributorProblem.UNREGISTERED)
        inBackground(context) { host ->
            host.securePushClient.loseChannel()
            // It looks into the inbox, and registers again with the distributor if that is still chosen.
            CatchUpJob(context).scheduleUnlessPending()
        }
    }

    override fun onTempUnavailable(context: Context, instance: String) {
        channel(context, instance) ?: return
        CatchUpJob(context).scheduleUnlessPending()
        onDistributorProblem(context, DistributorProblem.UNAVAILABLE)
    }

    private fun channel(context: Context): UnifiedPushChannel? =
        context.securePushHost().securePushChannel as? UnifiedPushChannel

    /** The channel, if the instance is its own. */
    private fun channel(context: Context, instance: String): UnifiedPushChannel? =
        channel(context)?.takeIf { it.instance == instance }

    /** Works while the system keeps the process, and the device awake. */
    private fun inBackground(context: Context, work: (SecurePushHost) -> Unit) {
        val host = context.securePushHost()
        val pending = goAsync()
        val lock = context.getSystemService(PowerManager::class.java)
            ?.newWakeLock(PowerManager.PARTIAL_WAKE_LOCK, "securepush:push")
        lock?.setReferenceCounted(false)
        // The system ends it if the process hangs.
        lock?.acquire(millisPerMessage + 1_000)
        host.securePushClient.threads.start {
            try {
                work(host)
            } finally {
                lock?.release()
                pending?.finish()
            }
        }
    }
}
