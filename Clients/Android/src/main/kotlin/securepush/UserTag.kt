package securepush

import java.security.MessageDigest

/**
 * The tag under which the hub has the devices of a user.
 *
 * The hub compares tags without regard to case, so names that differ in case must not have tags that differ in nothing
 * else. Tools that look into the hub need it; apps do not.
 */
object UserTag {
    /**
     * The tag of a user; `null` for a name that no user can have: an empty one, one of more than 1,024 bytes, or one
     * with a control character.
     *
     * `a-z 0-9 _ @ . : -` stay as they are. Every other byte of the UTF-8 form becomes `#` and two digits. A tag of
     * more than 120 characters has `##` and the SHA-256 of the name instead.
     */
    @JvmStatic
    fun of(userName: String): String? {
        val bytes = userName.toByteArray()
        if (bytes.size !in 1..MAX_NAME_BYTES || userName.any { it.isISOControl() }) return null
        val tag = PREFIX + bytes.joinToString("") {
            if (it in UNCHANGED) "${'\u0000' + it.toInt()}" else "#" + hex(byteArrayOf(it))
        }
        if (tag.length <= MAX_LENGTH) return tag
        return "$PREFIX##" + hex(MessageDigest.getInstance("SHA-256").digest(bytes))
    }

    private val UNCHANGED = "abcdefghijklmnopqrstuvwxyz0123456789_@.:-".toByteArray().toSet()
    private const val PREFIX = "username:"
    private const val MAX_NAME_BYTES = 1_024
    private const val MAX_LENGTH = 120
}
