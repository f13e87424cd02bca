package securepush

import java.io.File

/**
 * Keeps the device's keys for Web Push in a file of mode 0600. Threads of one process share it; another process reads
 * it.
 *
 * @param folder the folder of the file. It is created when keys are first made.
 * @param box encrypts the keys; `null`: they are not encrypted, for tools and tests.
 */
internal class WebPushKeyStore(private val folder: File, private val box: SecretBox?) {
    private val file = ProtectedFile(File(folder, "web-push"))

    /**
     * The keys; `null` if there are none, or if they are lost.
     *
     * @throws ClientStoreException if they cannot be read now.
     */
    fun find(): WebPushKeys? {
        val sealed = file.read() ?: return null
        try {
            return (if (box == null) sealed else box.open(sealed))?.let { WebPushKeys.of(it) }
        } catch (e: Exception) {
            throw ClientStoreException(ClientStoreException.Reason.UNREADABLE)
        }
    }

    /**
     * The keys, new ones if there are none.
     *
     * @throws ClientStoreException if they cannot be read or written now.
     */
    fun findOrMake(): WebPushKeys = synchronized(lock) { find() ?: make() }

    private fun make(): WebPushKeys {
        val keys = WebPushKeys.generate()
        try {
            folder.mkdirs()
            file.write(box?.seal(keys.encoded) ?: keys.encoded)
        } catch (e: Exception) {
            throw ClientStoreException(ClientStoreException.Reason.UNWRITABLE)
        }
        return keys
    }

    /**
     * Removes the keys. Messages that were encrypted for them can never be read again.
     *
     * @throws ClientStoreException if they are still there.
     */
    fun remove() = synchronized(lock) { file.remove() }

    private companion object {
        val lock = Any()
    }
}
