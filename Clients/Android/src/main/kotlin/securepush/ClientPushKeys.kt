package securepush

/**
 * Reads the server's keys for pushes, if those that are stored are old. A device whose app is not opened learns the
 * next key in this way, while its pushes are still signed with the last one.
 *
 * One wake does this for all wakes at the same time, with one request of at most 5 s. After a failure the next wake
 * tries again.
 *
 * @param deadline the [ClientClock.uptime] at which it ends.
 */
internal fun SecurePushClient.refreshOldPushKeys(deadline: Long) {
    if (!readsPushKeys || !isRefreshingPushKeys.compareAndSet(false, true)) return
    try {
        val state = unlessLocked { keeper.read() } ?: return
        val age = state.pushKeysReadAt?.let { clock.date - it }
        // A clock that went back tells nothing of the age.
        if (state.pushKeys != null && age != null && age in 0 until limits.refreshesPushKeysAfter) return
        refreshPushKeys(minOf(deadline, clock.uptime + MILLIS_FOR_PUSH_KEYS), isRetried = false)
    } finally {
        isRefreshingPushKeys.set(false)
    }
}

/**
 * Reads the server's keys after a signature by an unknown key, at most once an hour: anybody can send such a push.
 *
 * @return whether the server was asked.
 */
internal fun SecurePushClient.learnPushKeys(deadline: Long): Boolean {
    if (!readsPushKeys || !isRefreshingPushKeys.compareAndSet(false, true)) return false
    try {
        val now = clock.date
        val isDue = unlessLocked {
            keeper.update { state ->
                val times = listOfNotNull(state.pushKeysReadAt, state.pushKeysAskedAt)
                val isDue = times.none { now - it in 0 until limits.refreshesPushKeysAfter }
                if (isDue) state.pushKeysAskedAt = now
                isDue
            }
        } ?: false
        if (isDue) refreshPushKeys(minOf(deadline, clock.uptime + MILLIS_FOR_PUSH_KEYS), isRetried = false)
        return isDue
    } finally {
        isRefreshingPushKeys.set(false)
    }
}

/**
 * Reads the server's keys for pushes. They come from the configured host, over the same TLS as the secrets, so they
 * replace the configured keys. A failure, and a set that cannot be used, change nothing.
 */
internal fun SecurePushClient.refreshPushKeys(deadline: Long, isRetried: Boolean = true) {
    if (!readsPushKeys) return
    val call = RetrievalConnection.Call("api/push-keys", isAuthorized = false, isRetried = isRetried)
    val outcome = connection.send(call, deadline) as? RetrievalConnection.Outcome.Success ?: return
    val keys = try {
        PushKeySet.fromJwkSet(outcome.response.body)
    } catch (e: MalformedKeySet) {
        return
    }
    val now = clock.date
    unlessLocked {
        keeper.update { state ->
            state.pushKeys = keys
            state.pushKeysReadAt = now
        }
    }
}

private val SecurePushClient.readsPushKeys: Boolean
    get() = configuration.pushKeys != null && configuration.refreshesPushKeys

/** The keys are never worth more time than this. */
private const val MILLIS_FOR_PUSH_KEYS = 5_000L
