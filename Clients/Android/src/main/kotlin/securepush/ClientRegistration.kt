package securepush

import java.security.MessageDigest
import java.util.UUID
import org.json.JSONArray
import org.json.JSONObject

internal fun SecurePushClient.registerDevice(device: PushDevice, wake: Wake): String {
    stored { adoptUser() }
    val userName = currentUserName() ?: throw SecurePushFailure(DiagnosticCode.LOGGED_OUT)
    refreshPushKeys(wake.deadline)
    val record = stored { keeper.read().registration }
    val digest = digest(device)
    val age = clock.date - (record.registeredAt ?: Long.MIN_VALUE / 2)
    val isCurrent = record.userName == userName && record.digest == digest &&
        age in 0 until limits.renewsRegistrationAfter && record.installationID != null
    // Another user's messages are not for the same key.
    if (record.userName != null && record.userName != userName) withKey { store.keep(null) }
    val id = if (isCurrent) checkNotNull(record.installationID) else put(device, userName, digest, record, wake)
    if (configuration.encryptsEndToEnd) registerKey(id, wake.deadline)
    return id
}

/** Sends the installation. On 410 and 404 the client makes a new ID, once. */
private fun SecurePushClient.put(
    device: PushDevice, userName: String, digest: String, record: RegistrationRecord, wake: Wake
): String {
    for (known in listOf(record.installationID, null)) {
        val id = known ?: UUID.randomUUID().toString()
        // Stored first: after a crash the same installation is registered again, not a second one.
        stored { keeper.update { it.registration = RegistrationRecord(id) } }
        val outcome = connection.send(registration(device, id), wake.deadline)
        if (outcome is RetrievalConnection.Outcome.Success) {
            val now = clock.date
            stored { keeper.update { it.registration = RegistrationRecord(id, userName, digest, now) } }
            return id
        }
        val isGivenUp = outcome is RetrievalConnection.Outcome.Refused &&
            (outcome.status == 404 || outcome.status == 410)
        if (known == null || !isGivenUp) throw outcome.failure
    }
    throw SecurePushFailure(DiagnosticCode.status(410))
}

/**
 * Registers the public key of this device, unless the server has it. The first call makes the key.
 *
 * @throws SecurePushFailure and the device is registered then, and gets what is not encrypted.
 */
private fun SecurePushClient.registerKey(id: String, deadline: Long) {
    val key = withKey { store.envelopeKey() ?: store.keep(EnvelopePrivateKey.generate()) } ?: return
    val text = Base64Url.encode(key.publicBytes)
    if (stored { keeper.read() }.registration.publicKey == text) return
    val outcome = connection.send(
        RetrievalConnection.Call("api/devices/$id/key", "PUT", json = key.publicJwk), deadline
    )
    if (outcome !is RetrievalConnection.Outcome.Success) throw outcome.failure
    stored { keeper.update { it.registration = it.registration.copy(publicKey = text) } }
}

/**
 * Uses the device's key.
 *
 * @throws SecurePushFailure if the store cannot be used now.
 */
private fun <R> withKey(action: () -> R): R = try {
    action()
} catch (e: ClientStoreException) {
    val isLocked = e.reason == ClientStoreException.Reason.LOCKED
    throw SecurePushFailure(if (isLocked) DiagnosticCode.LOCKED else DiagnosticCode.NO_KEY)
}

internal fun SecurePushClient.unregisterDevice(wake: Wake) {
    // Forgotten first: after a crash the device is not taken for registered.
    val record = stored {
        keeper.update { state ->
            state.registration.also { state.registration = RegistrationRecord(it.installationID) }
        }
    }
    if (record.installationID != null) {
        val call = RetrievalConnection.Call("api/installations/${record.installationID}", "DELETE")
        val outcome = connection.send(call, wake.deadline)
        val isGone = outcome is RetrievalConnection.Outcome.Refused && (outcome.status == 404 || outcome.status == 410)
        if (outcome !is RetrievalConnection.Outcome.Success && !isGone) throw outcome.failure
    }
    withKey { store.keep(null) }
    val ids = stored { keeper.update { it.forget(null) } }
    presenter.remove(ids)
    presenter.removePrompt()
    presenter.setBadge(0)
}

/** Reads the server's keys for pushes, so that it can rotate them. A failure changes nothing. */
private fun SecurePushClient.refreshPushKeys(deadline: Long) {
    if (configuration.pushKeys == null || !configuration.refreshesPushKeys) return
    val call = RetrievalConnection.Call("api/push-keys", isAuthorized = false)
    val outcome = connection.send(call, deadline) as? RetrievalConnection.Outcome.Success ?: return
    val keys = try {
        PushKeySet.fromJwkSet(outcome.response.body)
    } catch (e: PushKeySet.Malformed) {
        return
    }
    unlessLocked { keeper.update { it.pushKeys = keys } }
}

/**
 * Uses the store.
 *
 * @throws SecurePushFailure before the first unlock.
 */
private inline fun <R : Any> stored(action: () -> R): R = try {
    action()
} catch (e: ClientStoreException) {
    throw SecurePushFailure(DiagnosticCode.LOCKED)
}

private fun registration(device: PushDevice, id: String): RetrievalConnection.Call {
    val document = JSONObject()
    document.put("installationId", id)
    document.put("platform", device.platform.rawValue)
    document.put("pushChannel", device.channel)
    if (device.tags.isNotEmpty()) document.put("tags", JSONArray(device.tags))
    return RetrievalConnection.Call("api/installations/$id", "PUT", json = document.toString())
}

/** A digest, so that the channel itself is not stored. */
private fun digest(device: PushDevice): String {
    val text = (listOf(device.platform.rawValue, device.channel) + device.tags).joinToString("\n")
    return Base64Url.encode(MessageDigest.getInstance("SHA-256").digest(text.toByteArray()))
}
