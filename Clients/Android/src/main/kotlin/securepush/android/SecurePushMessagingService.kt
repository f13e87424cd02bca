package securepush.android

import com.google.firebase.messaging.FirebaseMessagingService
import com.google.firebase.messaging.RemoteMessage
import securepush.IncomingPush
import securepush.SecurePushFailure
import securepush.WakeReport
import securepush.renewRegistration

/**
 * Receives the messages of Firebase. The library's manifest names it. An app with messages of its own names a
 * subclass in its manifest, and removes this one with `tools:node="remove"`.
 *
 * Firebase calls it on a background thread, keeps the device awake until the function returns, and gives up after 20 s.
 * The work that is left then is done by a job.
 */
open class SecurePushMessagingService : FirebaseMessagingService() {
    /** The longest time for one message, in milliseconds. */
    protected open val millisPerMessage: Long get() = 18_000

    /** A message that does not belong to SecurePush. */
    protected open fun onOtherMessage(message: RemoteMessage) = Unit

    /** A message, or the news that messages were lost, has been handled. It is called once for each. */
    protected open fun onWake(report: WakeReport) = Unit

    /** The new channel could not be registered. The app does so when it next starts. */
    protected open fun onRegistrationFailed(failure: SecurePushFailure) = Unit

    override fun onMessageReceived(message: RemoteMessage) {
        val push = IncomingPush.of(message.data)
        if (!push.isOurs) return onOtherMessage(message)
        val job = CatchUpJob(this)
        // Scheduled before the work, because the system may end the process.
        val client = securePushHost().securePushClient
        val report = client.handle(push, millisPerMessage) { job.schedule() }
        job.end(report, client)
        onWake(report)
    }

    /** Firebase has dropped messages: more than a hundred were waiting, or the device was offline for a month. */
    override fun onDeletedMessages() {
        val job = CatchUpJob(this)
        job.schedule()
        val client = securePushHost().securePushClient
        val report = client.catchUp(millisPerMessage)
        job.end(report, client)
        onWake(report)
    }

    /**
     * The channel has changed. A device that the app has not registered, or has unregistered, stays so: the log-in
     * registers it. Without a connection, a job tries again.
     */
    override fun onNewToken(token: String) {
        val host = securePushHost()
        // The app has changed to another channel.
        if (host.securePushChannel !is FirebaseChannel) return
        try {
            host.securePushClient.renewRegistration(host.securePushDevice(token))
        } catch (e: SecurePushFailure) {
            // Otherwise the app registers at its next start.
            if (e.code.canHeal) CatchUpJob(this).schedule()
            onRegistrationFailed(e)
        }
    }
}
