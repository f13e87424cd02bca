package securepush.android

import android.content.Context
import org.unifiedpush.android.connector.UnifiedPush
import securepush.SecurePushFailure
import securepush.expectChannel
import securepush.isRegistrationDue
import securepush.knownUserName
import securepush.readServerKey
import securepush.withKey

/**
 * A UnifiedPush distributor: an app on the device, such as ntfy or Sunup, that receives pushes for others, without
 * Google's services. The user chooses it by the functions of the library `org.unifiedpush.android:connector`.
 *
 * The app returns it as [SecurePushHost.securePushChannel], and its manifest names [UnifiedPushReceiver].
 *
 * @param instance the name of the registration with the distributor. An app that has more, for something else, gives
 *   them other names.
 * @param description what the distributor may show to the user, in at most 100 bytes.
 */
class UnifiedPushChannel @JvmOverloads constructor(
    private val context: Context,
    val instance: String = "securepush",
    private val description: String? = null
) : SecurePushChannel {
    internal val keys = UnifiedPushKeys(context, instance)

    /**
     * Asks the distributor for an endpoint, with the key of the server's hub. It comes to [UnifiedPushReceiver], which
     * registers the device with the server. Call it after the log-in and at each start of the app, on a background
     * thread.
     *
     * @return `false` if no distributor is chosen, or if it has been removed from the device.
     * @throws SecurePushFailure if nobody is logged in, if the server does not answer, or if the keys cannot be stored.
     */
    @Throws(SecurePushFailure::class)
    fun register(): Boolean {
        context.securePushHost().securePushClient.expectChannel()
        return ask()
    }

    /** Asks the distributor; `false` if there is none. */
    private fun ask(): Boolean {
        if (UnifiedPush.getSavedDistributor(context) == null) return false
        withKey { keys.store().findOrMake() }
        val serverKey = context.securePushHost().securePushClient.readServerKey()
        UnifiedPush.register(context, instance, description, serverKey, keys)
        return true
    }

    /**
     * Ends the registration with the distributor and removes the keys, for an app that changes to another channel. A
     * log-out needs only [securepush.SecurePushClient.unregister].
     */
    fun unregister() = UnifiedPush.unregister(context, instance, keys)

    @Throws(InterruptedException::class)
    override fun renew(): Boolean {
        val client = context.securePushHost().securePushClient
        try {
            // The app may have unregistered the device meanwhile, or the user has logged out.
            if (!client.isRegistrationDue || client.knownUserName() == null || !ask()) return true
        } catch (e: SecurePushFailure) {
            return !e.code.canHeal
        } catch (e: Exception) {
            // The user is not known now.
            return false
        }
        val end = client.clock.uptime + MILLIS_FOR_ENDPOINT
        while (client.isRegistrationDue && client.clock.uptime < end) client.clock.sleep(MILLIS_BETWEEN_LOOKS)
        return !client.isRegistrationDue
    }

    private companion object {
        /** A distributor asks its server. */
        const val MILLIS_FOR_ENDPOINT = 15_000L
        const val MILLIS_BETWEEN_LOOKS = 200L
    }
}
