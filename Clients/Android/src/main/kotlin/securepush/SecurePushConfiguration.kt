package securepush

import java.net.URI

/**
 * What the client needs to know of the server and of the app. None of it is ever taken from a push.
 *
 * @throws IllegalArgumentException if [retrievalUrl] is no `https` URL with a host, or if it has credentials, a query
 *   or a fragment. `http` is for a server on the loopback interface only, unless [allowsInsecureUrl].
 */
class SecurePushConfiguration @JvmOverloads constructor(
    /** Where the retrieval service is, such as `https://push.example.com`. A path before `/api` is allowed. */
    val retrievalUrl: URI,
    /**
     * The keys that sign pushes. With keys, a push without a valid signature is ignored. `null`: pushes are not signed.
     *
     * They hold until the client has read the server's keys, which then replace them ([refreshesPushKeys]).
     */
    val pushKeys: PushKeySet? = null,
    /**
     * Whether the client reads `GET /api/push-keys`, so that the server can rotate its keys: when it registers, and at
     * the end of a wake if the last time was more than [ClientLimits.refreshesPushKeysAfter] ago. Only with [pushKeys].
     */
    val refreshesPushKeys: Boolean = true,
    /** Times and sizes. */
    val limits: ClientLimits = ClientLimits(),
    /**
     * Whether the generic text is shown for a push whose notification the server does not give to this user (403, 404,
     * 410), for example because it was revoked.
     */
    val showsNoticeWhenGone: Boolean = true,
    /**
     * Whether senders can encrypt end to end for this device: [SecurePushClient.register] then makes a key, keeps it in
     * the store, and registers its public half; a new one every 30 days. Payloads that are encrypted are opened in any
     * case, if there is a key.
     */
    val encryptsEndToEnd: Boolean = false,
    /**
     * The keys of the senders that the user trusts: an encrypted payload without a signature of one of them is not
     * shown. They belong to the app, like [pushKeys]. `null`: senders need not sign.
     */
    val senderKeys: SenderKeySet? = null,
    /** Whether a payload that is not encrypted is not shown, so that only senders can write to the user. */
    val requiresEncryption: Boolean = false,
    /** How much of a message is handed to the system. A stricter `Display` of the sender wins. */
    val display: Display = Display.FULL,
    /** Whether credentials and secrets may go to another host without TLS, for tests: `http://10.0.2.2:8080`. */
    val allowsInsecureUrl: Boolean = false
) {
    init {
        require(!retrievalUrl.host.isNullOrEmpty()) { "The URL has no host." }
        val isInsecureAllowed = allowsInsecureUrl || retrievalUrl.host in setOf("127.0.0.1", "[::1]", "localhost")
        require(retrievalUrl.scheme == "https" || (retrievalUrl.scheme == "http" && isInsecureAllowed)) {
            "The URL is not https."
        }
        require(retrievalUrl.userInfo == null && retrievalUrl.query == null && retrievalUrl.fragment == null) {
            "The URL has credentials, a query or a fragment."
        }
    }

    /** Makes a configuration, for Java. The defaults are those of the constructor. */
    class Builder(private val retrievalUrl: URI) {
        private var pushKeys: PushKeySet? = null
        private var refreshesPushKeys = true
        private var limits = ClientLimits()
        private var showsNoticeWhenGone = true
        private var encryptsEndToEnd = false
        private var senderKeys: SenderKeySet? = null
        private var requiresEncryption = false
        private var display = Display.FULL
        private var allowsInsecureUrl = false

        /** [SecurePushConfiguration.pushKeys] */
        fun pushKeys(keys: PushKeySet?): Builder = apply { pushKeys = keys }

        /** [SecurePushConfiguration.refreshesPushKeys] */
        fun refreshesPushKeys(value: Boolean): Builder = apply { refreshesPushKeys = value }

        /** [SecurePushConfiguration.limits] */
        fun limits(value: ClientLimits): Builder = apply { limits = value }

        /** [SecurePushConfiguration.showsNoticeWhenGone] */
        fun showsNoticeWhenGone(value: Boolean): Builder = apply { showsNoticeWhenGone = value }

        /** [SecurePushConfiguration.encryptsEndToEnd] */
        fun encryptsEndToEnd(value: Boolean): Builder = apply { encryptsEndToEnd = value }

        /** [SecurePushConfiguration.senderKeys] */
        fun senderKeys(keys: SenderKeySet?): Builder = apply { senderKeys = keys }

        /** [SecurePushConfiguration.requiresEncryption] */
        fun requiresEncryption(value: Boolean): Builder = apply { requiresEncryption = value }

        /** [SecurePushConfiguration.display] */
        fun display(value: Display): Builder = apply { display = value }

        /** [SecurePushConfiguration.allowsInsecureUrl] */
        fun allowsInsecureUrl(value: Boolean): Builder = apply { allowsInsecureUrl = value }

        /** @throws IllegalArgumentException as the constructor. */
        fun build() = SecurePushConfiguration(
            retrievalUrl, pushKeys, refreshesPushKeys, limits, showsNoticeWhenGone, encryptsEndToEnd, senderKeys,
            requiresEncryption, display, allowsInsecureUrl
        )
    }
}

/** Times and sizes that bound the work of one wake. */
data class ClientLimits @JvmOverloads constructor(
    /** The longest time for one try, in milliseconds. */
    val millisPerTry: Long = 8_000,
    /** The longest time for all the work of one wake, in milliseconds. Firebase gives a message 20 s. */
    val millisInTotal: Long = 25_000,
    /** The longest answer to a fetch, in bytes. A payload has at most 256 KiB; its JSON can be six times as long. */
    val maxAnswerBytes: Int = 2 shl 20,
    /** How many missed notifications one wake shows. The next wake goes on. */
    val maxShownPerWake: Int = 100,
    /** The maximum number of IDs that the client remembers. It shows each of them once. */
    val maxRememberedIDs: Int = 1_000,
    /** The oldest signature of a push, in milliseconds. One of more than a day ahead is refused in any case. */
    val maxPushAge: Long = 28 * DAY,
    /**
     * How long another process of the app may take to show what it has fetched, in milliseconds. After that the client
     * takes it for dead.
     */
    val claimMillis: Long = 10_000,
    /**
     * When a registration is renewed although nothing has changed, in milliseconds. The server forgets devices that it
     * has not seen for long (`DEVICE_STALE_AFTER`, 270 days).
     */
    val renewsRegistrationAfter: Long = 7 * DAY,
    /** The age at which a wake reads the server's keys for pushes again, in milliseconds. */
    val refreshesPushKeysAfter: Long = 3_600_000,
    /** The most notifications with payloads that are asked for at once. An answer has at most [maxAnswerBytes]. */
    val maxSecretsPerPage: Int = 20
) {
    private companion object {
        const val DAY = 86_400_000L
    }
}
