package securepush

import java.io.File
import java.io.FileInputStream
import java.io.FileNotFoundException
import java.io.FileOutputStream
import java.io.IOException
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions

/**
 * A small file that only its owner reads, replaced as a whole.
 *
 * @param keepsDamaged whether a damaged one is renamed, so that somebody can look at it. One with secrets is removed.
 */
internal class ProtectedFile(val file: File, private val keepsDamaged: Boolean = false) {
    /**
     * Reads the file; `null` if there is none, or if it was too long and has been put aside.
     *
     * @throws ClientStoreException
     */
    fun read(): ByteArray? {
        if (!file.exists()) return null
        if (file.length() > MAX_BYTES) {
            putAside()
            return null
        }
        try {
            return FileInputStream(file).use { it.readBytes() }
        } catch (e: FileNotFoundException) {
            if (!file.exists()) return null
            throw ClientStoreException(ClientStoreException.Reason.UNREADABLE)
        } catch (e: IOException) {
            throw ClientStoreException(ClientStoreException.Reason.UNREADABLE)
        }
    }

    /**
     * Replaces the file: after a crash it has the old content or the new one.
     *
     * @throws ClientStoreException
     */
    fun write(bytes: ByteArray) {
        val temporary = File(file.path + ".new")
        try {
            temporary.delete()
            Files.createFile(temporary.toPath(), PosixFilePermissions.asFileAttribute(OWNER_ONLY))
            FileOutputStream(temporary).use { stream ->
                stream.write(bytes)
                stream.fd.sync()
            }
            if (temporary.renameTo(file)) return
        } catch (e: IOException) {
            temporary.delete()
        }
        throw ClientStoreException(ClientStoreException.Reason.UNWRITABLE)
    }

    /**
     * Removes the file, if it is there.
     *
     * @throws ClientStoreException
     */
    fun remove() {
        if (!file.delete() && file.exists()) throw ClientStoreException(ClientStoreException.Reason.UNWRITABLE)
    }

    /** Ends a damaged file. If that fails, the next write replaces it. */
    fun putAside() {
        if (keepsDamaged) file.renameTo(File(file.path + ".damaged")) else file.delete()
    }

    private companion object {
        val OWNER_ONLY = PosixFilePermissions.fromString("rw-------")
        /** The state of a thousand notifications takes about 130 KB. */
        const val MAX_BYTES = 4L shl 20
    }
}
