package securepush

/** A device as it is registered with the retrieval service. Its `toString` does not show the channel. */
class PushDevice private constructor(
    /** The platform. */
    val platform: Platform,
    /**
     * The push channel, such as the registration token of Firebase or the endpoint of a UnifiedPush distributor.
     * It is enough to take the device over.
     */
    val channel: String,
    /** Tags of the app. The server adds the user's own. */
    val tags: List<String>,
    /** The keys of a browser's channel; `null` for the others. */
    internal val subscription: WebPushSubscription?
) {
    /**
     * A device with a token of its platform's push service.
     *
     * @throws IllegalArgumentException for [Platform.BROWSER], which needs a [WebPushSubscription].
     */
    @JvmOverloads
    constructor(platform: Platform, channel: String, tags: List<String> = emptyList()) :
        this(platform, channel, tags, null) {
        require(platform != Platform.BROWSER) { "A browser's channel has keys: use a WebPushSubscription." }
    }

    /** A device with an endpoint of Web Push, for example of a UnifiedPush distributor. */
    @JvmOverloads
    constructor(subscription: WebPushSubscription, tags: List<String> = emptyList()) :
        this(Platform.BROWSER, subscription.endpoint, tags, subscription)

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
        ADM("adm"),
        /** Web Push, which UnifiedPush distributors receive. */
        BROWSER("browser")
    }

    override fun toString(): String = "device of ${platform.rawValue}"
}
