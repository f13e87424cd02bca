package securepush.android

import android.content.Context
import android.os.UserManager
import android.provider.Settings
import java.io.File
import java.util.UUID
import securepush.ClientState
import securepush.ClientStore
import securepush.ClientStoreException
import securepush.EnvelopeKeyVault
import securepush.EnvelopePrivateKey
import securepush.FileClientStore
import securepush.PushID
import securepush.SecretBox
import securepush.StoredCredentials

/**
 * The store for Android: files in the app's folder that is never backed up. The credentials are encrypted with a key of
 * the Android Keystore. The device's keys for end-to-end encryption are in the Keystore from Android 12 on, and
 * otherwise encrypted like the credentials.
 *
 * A backup would give two devices the same installation ID. Before the first unlock after a start of the device,
 * nothing can be read: [ClientStoreException.Reason.LOCKED].
 *
 * @param box encrypts the credentials, and the device's keys that are not in the vault.
 * @param vault keeps the device's keys.
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
        val isLeft = credentials != null && credentials.departures.isNotEmpty()
        if (isReplaced && isLeft) CatchUpJob(context).scheduleUnlessPending()
        return isReplaced
    }

    override fun envelopeKeys(): List<EnvelopePrivateKey> = unlocked().envelopeKeys()

    override fun makeEnvelopeKey(date: Long): EnvelopePrivateKey = unlocked().makeEnvelopeKey(date)

    override fun removeEnvelopeKeys() = unlocked().removeEnvelopeKeys()

    override fun rememberEnvelope(id: UUID, notification: PushID, date: Long): Boolean =
        unlocked().rememberEnvelope(id, notification, date)

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
