package securepush.android

import android.content.Context
import android.os.UserManager
import java.io.File
import org.unifiedpush.android.connector.data.PublicKeySet
import org.unifiedpush.android.connector.keys.DefaultKeyManager
import org.unifiedpush.android.connector.keys.KeyManager
import securepush.ClientStoreException
import securepush.WebPushBody
import securepush.WebPushKeyStore
import securepush.WebPushKeys

/**
 * The SDK's own keys for the connector library: in a file that a key of the Keystore encrypts. The app's other
 * registrations have the keys of the library.
 *
 * The library calls it on the main thread, and an exception would end the app. So what cannot be done now is no key.
 */
internal class UnifiedPushKeys(private val context: Context, private val instance: String) : KeyManager {
    private val others by lazy { DefaultKeyManager(context) }
    private val files by lazy { WebPushKeyStore(File(context.noBackupFilesDir, "securepush"), KeystoreBox(ALIAS)) }

    /** @throws ClientStoreException before the first unlock. */
    fun store(): WebPushKeyStore {
        val isUnlocked = context.getSystemService(UserManager::class.java)?.isUserUnlocked ?: true
        if (!isUnlocked) throw ClientStoreException(ClientStoreException.Reason.LOCKED)
        return files
    }

    /** The end of [open]. */
    sealed class Opening {
        class Content(val bytes: ByteArray) : Opening()
        /** The body is not for the keys, or was changed. */
        object Unreadable : Opening()
        /** There are no keys any more. */
        object NoKeys : Opening()
    }

    /**
     * Decrypts the body of a push, on a background thread.
     *
     * @throws ClientStoreException if the keys cannot be used now.
     */
    fun open(body: ByteArray): Opening {
        val keys = store().find() ?: return Opening.NoKeys
        return WebPushBody.open(body, keys)?.let { Opening.Content(it) } ?: Opening.Unreadable
    }

    /** The SDK's messages stay encrypted here: [UnifiedPushReceiver] opens them on a thread of its own. */
    override fun decrypt(instance: String, sealed: ByteArray): ByteArray? =
        if (instance == this.instance) null else others.decrypt(instance, sealed)

    override fun generate(instance: String) {
        if (instance == this.instance) attempt { store().findOrMake() } else others.generate(instance)
    }

    override fun getPublicKeySet(instance: String): PublicKeySet? {
        if (instance != this.instance) return others.getPublicKeySet(instance)
        val keys: WebPushKeys? = attempt { store().find() }
        return keys?.let { PublicKeySet(it.p256dh, it.auth) }
    }

    override fun exists(instance: String): Boolean =
        if (instance == this.instance) attempt { store().find() } != null else others.exists(instance)

    override fun delete(instance: String) {
        if (instance == this.instance) attempt { store().remove() } else others.delete(instance)
    }

    private fun <R> attempt(work: () -> R): R? = try {
        work()
    } catch (e: ClientStoreException) {
        null
    }

    private companion object {
        const val ALIAS = "securepush.web-push"
    }
}
