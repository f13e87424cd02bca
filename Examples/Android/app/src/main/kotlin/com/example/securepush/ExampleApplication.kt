package com.example.securepush

import android.app.Application
import java.net.URI
import org.unifiedpush.android.connector.UnifiedPush
import securepush.ClientStore
import securepush.HttpTransport
import securepush.PushKeySet
import securepush.SecurePushClient
import securepush.SecurePushConfiguration
import securepush.TokenCredentialsProvider
import securepush.Transport
import securepush.android.AndroidClientStore
import securepush.android.AndroidClock
import securepush.android.FirebaseChannel
import securepush.android.NotificationManagerPresenter
import securepush.android.SecurePushChannel
import securepush.android.SecurePushHost
import securepush.android.UnifiedPushChannel

/** The app: it makes the client, which the screen and the SDK's services share. */
open class ExampleApplication : Application(), SecurePushHost {
    private val retrievalUrl = URI(BuildConfig.RETRIEVAL_URL)
    private val clock = AndroidClock()

    protected open val store: ClientStore by lazy { AndroidClientStore(this) }

    /** Sends the requests. */
    open val transport: Transport by lazy { HttpTransport() }

    /** The user's credentials. */
    val credentials by lazy { TokenCredentialsProvider(retrievalUrl, store, transport, clock) }

    override val securePushClient by lazy {
        val presenter = NotificationManagerPresenter(this, R.drawable.ic_message)
        val configuration = SecurePushConfiguration(retrievalUrl, pushKeys(), encryptsEndToEnd = true)
        SecurePushClient(configuration, credentials, store, transport, presenter, clock)
    }

    /** The way without Google. */
    val unifiedPush by lazy { UnifiedPushChannel(this) }

    /** Whether the user has chosen a distributor of UnifiedPush. The library stores the choice. */
    val usesUnifiedPush: Boolean get() = UnifiedPush.getSavedDistributor(this) != null

    override val securePushChannel: SecurePushChannel
        get() = if (usesUnifiedPush) unifiedPush else FirebaseChannel(this)

    /** The state of the screen. */
    open val session by lazy { Session(this) }

    /**
     * The keys that sign pushes: the file `push-keys.json` of `securepush keys generate --push`, put into the app's
     * assets. An unusable one must not turn verification off, so the app stops then.
     */
    private fun pushKeys(): PushKeySet? {
        if (PUSH_KEYS !in (assets.list("") ?: emptyArray())) return null
        return PushKeySet.fromJwkSet(assets.open(PUSH_KEYS).use { it.readBytes() })
    }

    private companion object {
        const val PUSH_KEYS = "push-keys.json"
    }
}
