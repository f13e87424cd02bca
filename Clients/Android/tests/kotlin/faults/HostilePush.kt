package securepush.faults

import securepush.IncomingPush
import securepush.PushID

/** Pushes that the server never sent. */
object HostilePush {
    /** Pushes that claim to be for a notification: huge, forged, with a host, with control characters. */
    fun all(id: PushID): List<IncomingPush> {
        val text = id.rawValue
        val forged = "A".repeat(86)
        val datas: List<Map<String, String?>> = listOf(
            mapOf("secureId" to ""), mapOf("secureId" to null), mapOf("secureId" to "x".repeat(1 shl 20)),
            mapOf("secureId" to "{\"a\":\"$text\"}"), mapOf("secureId" to "$text/../../token"),
            mapOf("secureId" to "$text\u0000"), mapOf("secureId" to "\u202e$text"),
            mapOf("secureId" to "https://evil.example/$text"), mapOf("secureId" to text),
            mapOf("secureId" to text, "sig" to forged), mapOf("secureId" to text, "ts" to "1", "sig" to forged),
            mapOf("secureId" to text, "ts" to "-9223372036854775808", "sig" to forged),
            mapOf("secureId" to text, "ts" to "99999999999999999999999999", "sig" to forged),
            mapOf("secureId" to text, "ts" to "1800000000", "sig" to "====", "host" to "evil.example"),
            mapOf("secureId" to text, "ts" to "1800000000", "sig" to forged, "url" to "https://evil.example/api"),
            mapOf("secureId" to text, "withdraw" to "1", "ts" to "1800000000", "sig" to forged),
            mapOf("secureId" to text, "withdraw" to "true"), mapOf("secureId" to text, "withdraw" to null),
            mapOf("host" to "evil.example")
        )
        return datas.map { IncomingPush.of(it) }
    }
}
