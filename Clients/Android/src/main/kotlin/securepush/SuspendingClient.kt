package securepush

import kotlinx.coroutines.suspendCancellableCoroutine

/**
 * The client's functions for coroutines. They work on the client's own threads, so they can be called on the main
 * thread. A cancelled coroutine interrupts the work: a wake ends soon, and what is left waits for the next one.
 *
 * An app that uses it adds `org.jetbrains.kotlinx:kotlinx-coroutines-core`, 1.0.1 or newer. Each function behaves, and
 * fails, as the one of the same name in [SecurePushClient].
 */
class SuspendingClient internal constructor(private val client: SecurePushClient) {
    /** [SecurePushClient.handle] */
    suspend fun handle(push: IncomingPush): WakeReport = client.threads.suspended { client.handle(push) }

    /** [SecurePushClient.catchUp] */
    suspend fun catchUp(): WakeReport = client.threads.suspended { client.catchUp() }

    /** [SecurePushClient.resumeAfterLogIn] */
    suspend fun resumeAfterLogIn(): WakeReport = client.threads.suspended { client.resumeAfterLogIn() }

    /** [SecurePushClient.waiting] */
    suspend fun waiting(): List<PushID> = client.threads.suspended { client.waiting() }

    /** [SecurePushClient.register] */
    suspend fun register(device: PushDevice): String = client.threads.suspended { client.register(device) }

    /** [SecurePushClient.unregister] */
    suspend fun unregister(): Boolean = client.threads.suspended { client.unregister() }

    /** [SecurePushClient.logOut] */
    suspend fun logOut(): Boolean = client.threads.suspended { client.logOut() }

    /** [SecurePushClient.inbox] */
    suspend fun inbox(after: PushID? = null, unreadOnly: Boolean = false, withSecrets: Boolean = false): InboxPage =
        client.threads.suspended { client.inbox(after, unreadOnly, withSecrets) }

    /** [SecurePushClient.read] */
    suspend fun read(id: PushID): SecretNotification = client.threads.suspended { client.read(id) }

    /** [SecurePushClient.secret] */
    suspend fun secret(push: IncomingPush): SecretNotification? = client.threads.suspended { client.secret(push) }

    /** [SecurePushClient.markAsRead] */
    suspend fun markAsRead(ids: List<PushID>) = client.threads.suspended { client.markAsRead(ids) }

    /** [SecurePushClient.markAsReadThrough] */
    suspend fun markAsReadThrough(id: PushID) = client.threads.suspended { client.markAsReadThrough(id) }

    /** [SecurePushClient.answer] */
    suspend fun answer(id: PushID, action: String, text: String? = null, challenge: String? = null) =
        client.threads.suspended { client.answer(id, action, text, challenge) }

    /** [SecurePushClient.devices] */
    suspend fun devices(): List<UserDevice> = client.threads.suspended { client.devices() }

    /** [SecurePushClient.encryptionKeyFingerprint] */
    suspend fun encryptionKeyFingerprint(): String? = client.threads.suspended { client.encryptionKeyFingerprint() }

    /** [SecurePushClient.removeDevice] */
    suspend fun removeDevice(id: String) = client.threads.suspended { client.removeDevice(id) }

    /** [SecurePushClient.signOutEverywhere] */
    suspend fun signOutEverywhere() = client.threads.suspended { client.signOutEverywhere() }
}

/** The client's functions for coroutines. */
val SecurePushClient.suspending: SuspendingClient get() = SuspendingClient(this)

/** [TokenCredentialsProvider.logIn] for coroutines. */
suspend fun TokenCredentialsProvider.logInSuspending(userName: String, password: String) =
    threads.suspended { logIn(userName, password) }

/** Works on another thread, which is interrupted if the coroutine is cancelled. */
private suspend fun <R> ClientThreads.suspended(work: () -> R): R = suspendCancellableCoroutine { continuation ->
    val thread = start { continuation.resumeWith(runCatching(work)) }
    continuation.invokeOnCancellation { thread.interrupt() }
}
