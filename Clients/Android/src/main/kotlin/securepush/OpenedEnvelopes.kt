package securepush

import java.nio.ByteBuffer
import java.security.MessageDigest
import java.util.UUID

/**
 * The envelopes that this device has opened, so that none opens again under another notification's ID: for each 16
 * bytes of its ID, 16 bytes of SHA-256 of the notification's ID, and 8 bytes of the time in milliseconds since 1970.
 * None of it is secret.
 */
internal class OpenedEnvelopes(private var bytes: ByteArray = ByteArray(0)) {
    private val count: Int get() = bytes.size / RECORD_BYTES

    /**
     * Whether an envelope may be opened.
     *
     * @return `null` if it is new.
     */
    fun allows(id: UUID, notification: PushID): Boolean? {
        val buffer = ByteBuffer.wrap(bytes)
        // The last one counts, though there should be only one.
        for (number in count - 1 downTo 0) {
            val start = number * RECORD_BYTES
            val isSame = buffer.getLong(start) == id.mostSignificantBits &&
                buffer.getLong(start + 8) == id.leastSignificantBits
            if (isSame) return bytes.copyOfRange(start + 16, start + 32).contentEquals(digest(notification))
        }
        return null
    }

    /** The records without those whose time is over; `null` if there are few of them. */
    fun compacted(date: Long): ByteArray? {
        val buffer = ByteBuffer.wrap(bytes)
        fun isOver(number: Int) = date - buffer.getLong(number * RECORD_BYTES + 32) > MILLIS
        if (count < MAX_RECORDS + SPARE_RECORDS && (count == 0 || !isOver(0))) return null
        val kept = (0 until count).filter { !isOver(it) }.takeLast(MAX_RECORDS)
        val result = ByteBuffer.allocate(kept.size * RECORD_BYTES)
        for (number in kept) result.put(bytes, number * RECORD_BYTES, RECORD_BYTES)
        return result.array()
    }

    /** Opens an envelope, for stores in memory. */
    fun remember(id: UUID, notification: PushID, date: Long): Boolean {
        allows(id, notification)?.let { return it }
        bytes = (compacted(date) ?: bytes) + record(id, notification, date)
        return true
    }

    companion object {
        const val RECORD_BYTES = 40
        private const val MAX_RECORDS = 10_000
        /** So that not every change rewrites the file. */
        private const val SPARE_RECORDS = 1_000
        /** Older envelopes are refused by their time, which may be a day ahead. */
        private const val MILLIS = 91 * 86_400_000L

        fun record(id: UUID, notification: PushID, date: Long): ByteArray = ByteBuffer.allocate(RECORD_BYTES)
            .putLong(id.mostSignificantBits).putLong(id.leastSignificantBits).put(digest(notification)).putLong(date)
            .array()

        private fun digest(notification: PushID): ByteArray =
            MessageDigest.getInstance("SHA-256").digest(notification.rawValue.toByteArray()).copyOf(16)
    }
}
