package securepush

/** A device as it is registered with the retrieval service. Its `toString` does not show the channel. */
class PushDevice @JvmOverloads constructor(
    /** The platform. */
    val platform: Platform,
    /** The push channel, such as the registration token of Firebase. Whoever knows it can take the device over. */
    val channel: String,
    /** Tags of the app. The server adds the user's own. */
    val tags: List<String> = emptyList()
) {
    /** The platform, as an installation of the hub names it. */
    enum class Platform(
        /** The name on the wire. */
        val rawValue: String
    ) {
        /** Firebase Cloud Messaging, HTTP v1. */
        FCM_V1("fcmv1"),
        /** Firebase Cloud Messaging, the legacy API. */
        GCM("gcm"),
        /** Amazon. */
        ADM("adm")
    }

    override fun toString(): String = "device of ${platform.rawValue}"
}
