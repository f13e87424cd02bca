package securepush.android

import android.content.Context
import securepush.PushDevice
import securepush.SecurePushClient
import securepush.WebPushSubscription

/**
 * The app's `Application` class implements this, so that the services of the SDK find the client. The system may start
 * the process for a push, without any activity.
 */
interface SecurePushHost {
    /** The client, one per process. */
    val securePushClient: SecurePushClient

    /** How pushes come to this device: [FirebaseChannel] or a [UnifiedPushChannel]. */
    val securePushChannel: SecurePushChannel get() = FirebaseChannel(this)

    /** The device as it is registered, for a registration token of Firebase. Add the app's tags here. */
    fun securePushDevice(token: String): PushDevice = PushDevice(PushDevice.Platform.FCM_V1, token)

    /** The device as it is registered, for an endpoint of a UnifiedPush distributor. Add the app's tags here. */
    fun securePushDevice(subscription: WebPushSubscription): PushDevice = PushDevice(subscription)
}

/**
 * The host of an app.
 *
 * @throws IllegalStateException if the `Application` class does not implement [SecurePushHost].
 */
internal fun Context.securePushHost(): SecurePushHost = applicationContext as? SecurePushHost
    ?: throw IllegalStateException("The class of the application does not implement SecurePushHost.")
