package securepush

/**
 * An endpoint of Web Push with the keys that a message to it is encrypted for (RFC 8030, RFC 8291), such as a
 * UnifiedPush distributor gives. Whoever knows it can send to the device: its `toString` does not show it.
 */
class WebPushSubscription private constructor(
    /** The URL to which the hub sends. */
    val endpoint: String,
    /** The device's public key on P-256: the point, not compressed, in base64url. */
    val p256dh: String,
    /** The 16 bytes of the authentication secret in base64url. */
    val auth: String
) {
    override fun toString(): String = "subscription"

    companion object {
        /** UnifiedPush allows no longer endpoints, in bytes. */
        private const val MAX_ENDPOINT_BYTES = 1_000
        private const val SECRET_BYTES = 16

        /** Takes what a distributor gave; `null` if the hub would refuse it: only `https:`, and only valid keys. */
        @JvmStatic
        fun of(endpoint: String, p256dh: String, auth: String): WebPushSubscription? {
            val isUsable = endpoint.startsWith("https://") && endpoint.length <= MAX_ENDPOINT_BYTES &&
                endpoint.all { it in '!'..'~' }
            val point = Base64Url.decode(p256dh.trimEnd('='))
            if (!isUsable || point == null || P256.point(point) == null) return null
            if (Base64Url.decode(auth.trimEnd('='))?.size != SECRET_BYTES) return null
            return WebPushSubscription(endpoint, p256dh.trimEnd('='), auth.trimEnd('='))
        }
    }
}
