package securepush.android

import android.content.Context
import android.os.UserManager
import android.provider.Settings
import java.io.File
import securepush.ClientState
import securepush.ClientStore
import securepush.ClientStoreException
import securepush.EnvelopeKeyVault
import securepush.EnvelopePrivateKey
import securepush.FileClientStore
import securepush.SecretBox
import securepush.StoredCredentials

/**
 * The store for Android: files in the app's folder that is never backed up. The credentials are encrypted with a key of
 * the Android Keystore. The device's key for end-to-end encryption is in the Keystore where that has X25519 (Android 13
 * and later, not every device), and otherwise encrypted like the credentials.
 *
 * A backup would give two devices the same installation ID. Before the first unlock after a start of the device,
 * nothing can be read: [ClientStoreException.Reason.LOCKED].
 *
 * @param box encrypts the credentials, and a device's key that is not in the vault.
 * @param vault keeps the device's key.
 */
class AndroidClientStore @JvmOverloads constructor(
    private val context: Context,
    private val box: SecretBox = KeystoreBox(),
    private val vault: EnvelopeKeyVault = KeystoreEnvelopeVault()
) : ClientStore {
    private val files by lazy { FileClientStore(File(context.noBackupFilesDir, FOLDER), box, vault) }

    override fun read(): ClientState = unlocked().read()

    override fun <R> update(change: (ClientState) -> R): R = unlocked().update(change)

    override fun credentials(): StoredCredentials? = unlocked().credentials()

    override fun save(credentials: StoredCredentials?) = unlocked().save(credentials)

    /** After a log-out, the job tells the server as soon as there is a network. */
    override fun replace(expected: StoredCredentials?, credentials: StoredCredentials?): Boolean {
        val isReplaced = unlocked().replace(expected, credentials)
        val isLeft = credentials != null && credentials.unregistrations.isNotEmpty()
        if (isReplaced && isLeft) CatchUpJob(context).scheduleUnlessPending()
        return isReplaced
    }

    override fun envelopeKey(): EnvelopePrivateKey? = unlocked().envelopeKey()

    override fun makeEnvelopeKey(): EnvelopePrivateKey = unlocked().makeEnvelopeKey()

    override fun removeEnvelopeKey() = unlocked().removeEnvelopeKey()

    override fun claimLockedNotice(): Boolean {
        val folder = File(context.createDeviceProtectedStorageContext().noBackupFilesDir, FOLDER)
        val starts = Settings.Global.getInt(context.contentResolver, Settings.Global.BOOT_COUNT, 0)
        return FileClientStore(folder) { "$starts" }.claimLockedNotice()
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
