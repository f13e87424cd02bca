package securepush

import java.security.MessageDigest
import java.util.UUID
import org.json.JSONArray
import org.json.JSONObject

internal fun SecurePushClient.registerDevice(device: PushDevice, wake: Wake): String {
    wake.userChanges = stored { adoptUser() }.userChanges
    val userName = userNameToRegister()
    refreshPushKeys(wake.deadline)
    val record = stored { keeper.read().registration }
    val digest = digest(device)
    val age = clock.date - (record.registeredAt ?: Long.MIN_VALUE / 2)
    val isCurrent = record.userName == userName && record.digest == digest &&
        age in 0 until limits.renewsRegistrationAfter
    val known = record.installationID
    if (isCurrent && known != null && registerKey(known, userName, wake)) return known
    val id = put(device, userName, digest, record, wake)
    if (!registerKey(id, userName, wake)) throw SecurePushFailure(DiagnosticCode.status(404))
    return id
}

/** @throws SecurePushFailure if nobody is logged in, or if that is not known now. */
private fun SecurePushClient.userNameToRegister(): String {
    val userName = try {
        knownUserName()
    } catch (e: Exception) {
        val isLocked = e is ClientStoreException && e.isLocked
        throw SecurePushFailure(if (isLocked) DiagnosticCode.LOCKED else DiagnosticCode.CREDENTIALS)
    }
    val code = if (keeper.isBlind) DiagnosticCode.CREDENTIALS else DiagnosticCode.LOGGED_OUT
    return userName ?: throw SecurePushFailure(code)
}

/**
 * Changes the state, unless the user has left since the wake began.
 *
 * @throws SecurePushFailure if the user has left. The log-out has the server forget the device.
 */
private fun SecurePushClient.change(wake: Wake, change: (ClientState) -> Unit) {
    val isChanged = stored {
        keeper.update { state -> (state.userChanges <= wake.userChanges).also { if (it) change(state) } }
    }
    if (!isChanged) throw SecurePushFailure(DiagnosticCode.LOGGED_OUT)
}

/** Sends the installation. On 410 and 404 the client makes a new ID, once. */
private fun SecurePushClient.put(
    device: PushDevice, userName: String, digest: String, record: RegistrationRecord, wake: Wake
): String {
    for (known in listOf(record.installationID, null)) {
        val id = known ?: UUID.randomUUID().toString()
        // Stored first: after a crash the same installation is registered again, not a second one.
        change(wake) { it.registration = RegistrationRecord(id, isWanted = true) }
        val outcome = connection.send(registration(device, id), wake.deadline)
        if (outcome is RetrievalConnection.Outcome.Success) {
            val now = clock.date
            val done = RegistrationRecord(id, userName, digest, now, isWanted = true)
            change(wake) { it.registration = done }
            return id
        }
        if (known == null || !outcome.isMissing) throw outcome.failure
    }
    throw SecurePushFailure(DiagnosticCode.status(410))
}

/**
 * Registers the public key of this device, which the server forgets when it replaces or removes the installation, or
 * when another user takes it over. The first call for a user makes the key.
 *
 * @param unlessKnown whether nothing is sent if the server has got the key before.
 * @return whether the server has the installation.
 * @throws SecurePushFailure if the server may not have the key. It has the installation's ID, unless the user has
 *   logged out.
 */
private fun SecurePushClient.registerKey(
    id: String, userName: String, wake: Wake, unlessKnown: Boolean = false
): Boolean = try {
    sendKey(id, userName, wake, unlessKnown)
} catch (e: SecurePushFailure) {
    throw if (e.code == DiagnosticCode.LOGGED_OUT) e else SecurePushFailure(e.code, id)
}

private fun SecurePushClient.sendKey(id: String, userName: String, wake: Wake, unlessKnown: Boolean): Boolean {
    // Another user's messages are not for the same key. The server has forgotten the former one by now.
    val owner = stored { keeper.read() }.keyOwner
    if (owner != userName && (owner != null || configuration.encryptsEndToEnd)) forgetKey()
    if (!configuration.encryptsEndToEnd) return true
    val now = clock.date
    val key = withKey { store.makeEnvelopeKey(now) }
    val text = Base64Url.encode(key.publicBytes)
    var record = RegistrationRecord()
    try {
        change(wake) { state ->
            state.keyOwner = userName
            state.keyCheckedAt = now
            record = state.registration
        }
    } catch (e: SecurePushFailure) {
        if (e.code == DiagnosticCode.LOGGED_OUT) withKey { store.removeEnvelopeKeys() }
        throw e
    }
    if (unlessKnown && record.publicKey == text) return true
    val call = RetrievalConnection.Call("api/devices/$id/key", "PUT", json = key.publicJwk, success = 204)
    val outcome = connection.send(call, wake.deadline)
    if (outcome.isMissing) return false
    if (outcome is RetrievalConnection.Outcome.Success) {
        change(wake) { it.registration = it.registration.copy(publicKey = text) }
    } else if (record.publicKey != text) {
        throw outcome.failure
    }
    // Otherwise the server has got it before. The next call sends it again.
    return true
}

/**
 * Makes and registers a new key if the last one is 30 days old. It looks once a day, at the end of a wake, and takes at
 * most 5 s. A failure is tried again a day later, or by the next registration.
 */
internal fun SecurePushClient.renewOldKey(deadline: Long) {
    if (!configuration.encryptsEndToEnd) return
    val state = unlessLocked { keeper.read() } ?: return
    val record = state.registration
    val age = state.keyCheckedAt?.let { clock.date - it } ?: return
    val (id, userName) = Pair(record.installationID ?: return, record.userName ?: return)
    if (userName != state.owner || userName != state.keyOwner || age in 0 until MILLIS_BETWEEN_CHECKS) return
    val wake = Wake(0, minOf(deadline, clock.uptime + MILLIS_FOR_KEY))
    wake.userChanges = state.userChanges
    try {
        registrations.take(clock.uptime) { registerKey(id, userName, wake, unlessKnown = true) }
    } catch (e: SecurePushFailure) {
        // The server still has the former key, and this device, too.
        return
    }
}

/** Removes the device's keys. */
private fun SecurePushClient.forgetKey() {
    withKey { store.removeEnvelopeKeys() }
    stored { keeper.update { it.keyOwner = null } }
}

/**
 * Uses the device's key.
 *
 * @throws SecurePushFailure if the store cannot be used now.
 */
internal fun <R> withKey(action: () -> R): R = try {
    action()
} catch (e: ClientStoreException) {
    throw SecurePushFailure(if (e.isLocked) DiagnosticCode.LOCKED else DiagnosticCode.NO_KEY)
}

/** The end of [renewRegistration]. */
internal enum class Renewal {
    /** The app has not registered the device, or has unregistered it. */
    UNWANTED,
    /** The server had this channel already. */
    CURRENT,
    /** The server has another channel now. */
    CHANGED
}

/**
 * Registers the device after its channel has changed, if the app has registered it before and not unregistered it.
 *
 * @param millis the longest time.
 * @throws SecurePushFailure if the server does not have it now. [isRegistrationDue] then.
 */
internal fun SecurePushClient.renewRegistration(device: PushDevice, millis: Long = limits.millisInTotal): Renewal {
    // The app may unregister the device while this waits for its turn.
    val wake = begin(millis)
    return registrations.take(wake.deadline) {
        stored { keeper.read() }
        hasMissedRenewal = keeper.isBlind
        if (keeper.isBlind) throw SecurePushFailure(DiagnosticCode.CREDENTIALS)
        val renewal = stored {
            keeper.update { state ->
                val record = state.registration
                val isCurrent = record.digest == digest(device)
                // Whatever fails before the server has the new channel, a registration is due.
                if (!isCurrent) state.registration = record.copy(digest = null)
                if (!record.isWanted) Renewal.UNWANTED else if (isCurrent) Renewal.CURRENT else Renewal.CHANGED
            }
        }
        if (renewal != Renewal.UNWANTED) registerDevice(device, wake)
        renewal
    }
}

/**
 * Notes that the app wants the device to be registered as soon as it has a channel.
 *
 * @throws SecurePushFailure if nobody is logged in, or if that is not known now.
 */
internal fun SecurePushClient.expectChannel() {
    registrations.take(begin(limits.millisInTotal).deadline) {
        stored { adoptUser() }
        val userName = userNameToRegister()
        stored {
            keeper.update { state ->
                val record = state.registration
                val digest = record.digest.takeIf { record.userName == userName }
                state.registration = record.copy(digest = digest, isWanted = true)
            }
        }
    }
}

/** Notes that the channel is lost: a registration is due, if the app wants one. */
internal fun SecurePushClient.loseChannel() {
    unlessLocked { keeper.update { it.registration = it.registration.copy(digest = null) } }
}

/**
 * The public key with which the server's hub pushes (RFC 8292), in base64url: `GET /api/push-config`.
 *
 * @return `null` if the server has none.
 * @throws SecurePushFailure if the server did not say.
 */
internal fun SecurePushClient.readServerKey(): String? {
    val call = RetrievalConnection.Call("api/push-config", isAuthorized = false)
    val outcome = connection.send(call, begin(limits.millisInTotal).deadline)
    if (outcome is RetrievalConnection.Outcome.Refused && outcome.status == 404) return null
    val key = try {
        JsonValue.parse(outcome.orThrow().body).members()["ApplicationServerKey"]?.text()
    } catch (e: JsonValue.Malformed) {
        null
    }
    val isPoint = key != null && Base64Url.decode(key)?.let { P256.point(it) } != null
    return key.takeIf { isPoint } ?: throw SecurePushFailure(DiagnosticCode.MALFORMED_ANSWER)
}

/** Whether the last registration has failed. */
internal val SecurePushClient.isRegistrationDue: Boolean
    get() = hasMissedRenewal ||
        unlessLocked { keeper.read().registration }?.let { it.isWanted && it.digest == null } ?: false

/** Whether the server does not have the installation, or another user does. */
internal val RetrievalConnection.Outcome.isMissing: Boolean
    get() = this is RetrievalConnection.Outcome.Refused && (status == 404 || status == 410)

/**
 * Uses the store.
 *
 * @throws SecurePushFailure before the first unlock.
 */
internal inline fun <R : Any> stored(action: () -> R): R = try {
    action()
} catch (e: ClientStoreException) {
    throw SecurePushFailure(DiagnosticCode.LOCKED)
}

private fun registration(device: PushDevice, id: String): RetrievalConnection.Call {
    val document = JSONObject()
    document.put("installationId", id)
    document.put("platform", device.platform.rawValue)
    document.put("pushChannel", device.subscription?.let { channel(it) } ?: device.channel)
    if (device.tags.isNotEmpty()) document.put("tags", JSONArray(device.tags))
    return RetrievalConnection.Call("api/installations/$id", "PUT", json = document.toString())
}

/** The channel of a browser, in the hub's form. */
private fun channel(subscription: WebPushSubscription): JSONObject = JSONObject()
    .put("endpoint", subscription.endpoint).put("p256dh", subscription.p256dh).put("auth", subscription.auth)

private const val MILLIS_BETWEEN_CHECKS = 86_400_000L
/** The key is never worth more time than this. */
private const val MILLIS_FOR_KEY = 5_000L

/** A digest, so that the channel itself is not stored. */
private fun digest(device: PushDevice): String {
    val keys = device.subscription?.let { listOf(it.p256dh, it.auth) } ?: emptyList()
    val text = (listOf(device.platform.rawValue, device.channel) + keys + device.tags).joinToString("\n")
    return Base64Url.encode(MessageDigest.getInstance("SHA-256").digest(text.toByteArray()))
}
