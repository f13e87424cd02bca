package securepush

import java.util.Base64

/** Base64 with `-` and `_` and without padding (RFC 4648, section 5), decoded strictly: each value has one text. */
internal object Base64Url {
    /** Decodes a text; `null` unless it is exactly what [encode] makes of the value. */
    fun decode(text: String, maxLength: Int = 1_024): ByteArray? {
        if (text.length > maxLength) return null
        val bytes = try {
            Base64.getUrlDecoder().decode(text)
        } catch (e: IllegalArgumentException) {
            return null
        }
        // Java ignores bits beyond the last byte and takes padding, so the value is encoded again and compared.
        return bytes.takeIf { encode(it) == text }
    }

    /** Encodes bytes. */
    fun encode(bytes: ByteArray): String = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes)
}
