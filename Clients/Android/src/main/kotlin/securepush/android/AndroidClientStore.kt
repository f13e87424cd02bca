package securepush.android

import android.content.Context
import android.os.UserManager
import android.provider.Settings
import java.io.File
import securepush.ClientState
import securepush.ClientStore
import securepush.ClientStoreException
import securepush.EnvelopePrivateKey
import securepush.FileClientStore
import securepush.SecretBox
import securepush.StoredCredentials

/**
 * The store for Android: files in the app's folder that is never backed up. The credentials and the device's key are
 * encrypted with a key of the Android Keystore.
 *
 * A backup would give two devices the same installation ID. Before the first unlock after a start of the device,
 * nothing can be read: [ClientStoreException.Reason.LOCKED].
 *
 * @param box encrypts the credentials and the device's key.
 */
class AndroidClientStore @JvmOverloads constructor(
    private val context: Context,
    private val box: SecretBox = KeystoreBox()
) : ClientStore {
    private val files by lazy { FileClientStore(File(context.noBackupFilesDir, FOLDER), box) }

    override fun read(): ClientState = unlocked().read()

    override fun <R> update(change: (ClientState) -> R): R = unlocked().update(change)

    override fun credentials(): StoredCredentials? = unlocked().credentials()

    override fun save(credentials: StoredCredentials?) = unlocked().save(credentials)

    override fun envelopeKey(): EnvelopePrivateKey? = unlocked().envelopeKey()

    override fun keep(key: EnvelopePrivateKey?): EnvelopePrivateKey? = unlocked().keep(key)

    override fun claimLockedNotice(): Boolean {
        val folder = File(context.createDeviceProtectedStorageContext().noBackupFilesDir, FOLDER)
        val starts = Settings.Global.getInt(context.contentResolver, Settings.Global.BOOT_COUNT, 0)
        return FileClientStore(folder, null) { "$starts" }.claimLockedNotice()
    }

    private fun unlocked(): FileClientStore {
        val isUnlocked = context.getSystemService(UserManager::class.java)?.isUserUnlocked ?: true
        if (!isUnlocked) throw ClientStoreException(ClientStoreException.Reason.LOCKED)
        return files
    }

    private companion object {
        const val FOLDER = "securepush"
    }
}
