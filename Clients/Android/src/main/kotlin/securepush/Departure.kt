package securepush

import java.util.UUID

/**
 * What a log-out has left to do: the server is to forget the device and to end the session, also if there was no
 * network. It is kept with the credentials, in the same protected file, for at most a day.
 */
internal data class Departure(
    /** The user who has left; `null` if that is not known. */
    val userName: String?,
    /** Where the server is. */
    val baseUrl: String,
    /** When the user left, in milliseconds since 1970. */
    val since: Long,
    /** The installation that the server is to forget; `null` if there is none. */
    val installationID: String? = null,
    /** The token for the requests; `null` if the user was not logged in, or still is. */
    val accessToken: String? = null,
    /** The token that ends the session, and gets another [accessToken]. */
    val refreshToken: String? = null,
    /** Whether the user's notifications and key are gone from this device. */
    val isForgotten: Boolean = false,
    val id: String = UUID.randomUUID().toString()
) {
    /** Whether the requests need no other credentials. */
    val hasToken: Boolean get() = accessToken != null || refreshToken != null

    /** Whether the time is up. A clock that has jumped by more than a day ends it, too. */
    fun isOver(date: Long): Boolean = date - since !in -LONGEST..LONGEST

    override fun toString(): String = "departure"

    private companion object {
        const val LONGEST = 86_400_000L
    }
}

/**
 * Changes the credentials in one step, also if another process changes them at the same time.
 *
 * @param change the new credentials; it may run more than once.
 * @return the new credentials.
 * @throws ClientStoreException if nothing has changed.
 */
internal fun ClientStore.changeCredentials(change: (StoredCredentials?) -> StoredCredentials?): StoredCredentials? {
    for (number in 1..MAX_CHANGES) {
        val stored = credentials()
        val next = change(stored)?.takeIf { it.userName != null || it.departures.isNotEmpty() }
        if (next == stored || replace(stored, next)) return next
    }
    throw ClientStoreException(ClientStoreException.Reason.BUSY)
}

/** Changes one departure; `null` removes it. */
internal fun ClientStore.changeDeparture(
    id: String, change: (Departure) -> Departure?
) {
    changeCredentials { stored ->
        stored?.with(stored.departures.mapNotNull { if (it.id == id) change(it) else it })
    }
}

/** The departures have other tokens after a refresh. */
internal fun StoredCredentials.renewDepartures(used: String, renewed: StoredCredentials): StoredCredentials = with(
    departures.map {
        if (it.refreshToken != used) it else
            it.copy(accessToken = renewed.accessToken, refreshToken = renewed.refreshToken)
    }
)

/** Another process changes them now and then, not all the time. */
private const val MAX_CHANGES = 50
