package securepush.android

import com.google.firebase.messaging.FirebaseMessaging
import java.util.concurrent.atomic.AtomicReference
import securepush.SecurePushFailure
import securepush.renewRegistration

/** How pushes come to this device. */
interface SecurePushChannel {
    /**
     * Asks for the present channel and registers it, after a registration has failed. The job calls it, on a background
     * thread.
     *
     * @return whether the device is registered now, or trying again later does not help.
     */
    @Throws(InterruptedException::class)
    fun renew(): Boolean
}

/** Firebase Cloud Messaging. */
class FirebaseChannel(private val host: SecurePushHost) : SecurePushChannel {
    override fun renew(): Boolean {
        val client = host.securePushClient
        val token = AtomicReference<String>()
        val done = client.threads.newSignal()
        try {
            FirebaseMessaging.getInstance().token.addOnCompleteListener { task ->
                if (task.isSuccessful) token.set(task.result)
                done.set()
            }
            done.await(MILLIS_FOR_TOKEN)
            client.renewRegistration(host.securePushDevice(token.get() ?: return false))
            return true
        } catch (e: SecurePushFailure) {
            return !e.code.canHeal
        } catch (e: RuntimeException) {
            // The app has no project of Firebase. It registers at its next start.
            return true
        } catch (e: LinkageError) {
            // The app has no library of Firebase.
            return true
        }
    }

    private companion object {
        /** Firebase may not answer while it has no connection. */
        const val MILLIS_FOR_TOKEN = 10_000L
    }
}
