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
    val id = if (isCurrent) checkNotNull(record.installationID) else put(device, userName, digest, record, wake)
    if (configuration.usesEndToEndEncryption) registerKey(id, !isCurrent, wake.deadline)
    return id
}

/** Sends the installation. On 410 and 404 the client makes a new ID, once. */
private fun SecurePushClient.put(
    device: PushDevice, userName: String, digest: String, record: RegistrationRecord, wake: Wake
): String {
    for (known in listOf(record.installationID, null)) {
        val id = known ?: UUID.randomUUID().toString()
        // Stored first: after a crash the same installation is registered again, not a second one.
        stored {
            keeper.update { it.registration = RegistrationRecord(id, registeredKey = record.registeredKey) }
        }
        val outcome = connection.send(registration(device, id), wake.deadline)
        if (outcome is RetrievalConnection.Outcome.Success) {
            val now = clock.date
            stored {
                keeper.update {
                    it.registration = RegistrationRecord(id, userName, digest, now, record.registeredKey)
                }
            }
            return id
        }
        val isGivenUp = outcome is RetrievalConnection.Outcome.Refused &&
            (outcome.status == 404 || outcome.status == 410)
        if (known == null || !isGivenUp) throw outcome.failure
    }
    throw SecurePushFailure(DiagnosticCode.status(410))
}

/**
 * Registers the device's public key, so that senders can encrypt for it. A key that was lost is replaced; what was
 * encrypted for the old one cannot be read any more.
 */
private fun SecurePushClient.registerKey(id: String, isNew: Boolean, deadline: Long) {
    val key = stored { store.deviceKey() ?: DeviceKey.generate().also { store.save(it) } }
    val name = fingerprint("$id\n${key.publicJwk}")
    if (!isNew && stored { keeper.read() }.registration.registeredKey == name) return
    val outcome = connection.send(
        RetrievalConnection.Call("api/devices/$id/key", "PUT", json = key.publicJwk), deadline
    )
    if (outcome !is RetrievalConnection.Outcome.Success) throw outcome.failure
    stored { keeper.update { it.registration = it.registration.copy(registeredKey = name) } }
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
private fun digest(device: PushDevice): String =
    fingerprint((listOf(device.platform.rawValue, device.channel) + device.tags).joinToString("\n"))

private fun fingerprint(text: String): String =
    Base64Url.encode(MessageDigest.getInstance("SHA-256").digest(text.toByteArray()))
