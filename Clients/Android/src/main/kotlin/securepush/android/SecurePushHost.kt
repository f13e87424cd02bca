package securepush.android

import android.content.Context
import securepush.PushDevice
import securepush.SecurePushClient

/**
 * The app's `Application` class implements this, so that the services of the SDK find the client. The system may start
 * the process for a push, without any activity.
 */
interface SecurePushHost {
    /** The client, one per process. */
    val securePushClient: SecurePushClient

    /** The device as it is registered, for a registration token of Firebase. Add the app's tags here. */
    fun securePushDevice(token: String): PushDevice
}

/**
 * The host of an app.
 *
 * @throws IllegalStateException if the `Application` class does not implement [SecurePushHost].
 */
internal fun Context.securePushHost(): SecurePushHost = applicationContext as? SecurePushHost
    ?: throw IllegalStateException("The class of the application does not implement SecurePushHost.")
