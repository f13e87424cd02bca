package securepush.faults

/** What goes wrong. */
class Fault(
    val kind: Kind, val status: Int = 0, val retryAfter: Int? = null
) {
    enum class Kind {
        NONE, CONNECTION_REFUSED, TIMEOUT, TLS_FAILURE, SLOW_BODY, REDIRECT, TEN_MEGABYTES, WRONG_JSON, WRONG_ID,
        UNAUTHORIZED_AFTER_REFRESH, STATUS, STORE_FULL, STORE_CORRUPT, STORE_READ_ONLY, LOCKED, CLOCK_FORWARD,
        CLOCK_BACK, PRESENTER_REFUSES, HOSTILE_PUSH, PROXY, STORE_HANGS, STORE_THROWS, PRESENTER_HANGS
    }

    override fun toString(): String = when (kind) {
        Kind.PROXY -> "$status of a proxy"
        Kind.STATUS -> "$status" + (retryAfter?.let { " for $it s" } ?: "")
        else -> kind.name.replace('_', ' ')
    }

    companion object {
        /** All faults, and none. */
        val all: List<Fault> = Kind.values().toList()
            .filter { it != Kind.STATUS && it != Kind.PROXY }.map { Fault(it) } + listOf(
            Fault(Kind.STATUS, 401), Fault(Kind.STATUS, 403), Fault(Kind.STATUS, 404), Fault(Kind.STATUS, 408),
            Fault(Kind.STATUS, 410), Fault(Kind.STATUS, 429, 1), Fault(Kind.STATUS, 429, 3_600),
            Fault(Kind.STATUS, 500), Fault(Kind.STATUS, 503), Fault(Kind.PROXY, 200), Fault(Kind.PROXY, 400),
            Fault(Kind.PROXY, 401), Fault(Kind.PROXY, 404)
        )
    }
}

/** Where it begins to go wrong. */
enum class Stage {
    PARSE, VERIFY, TOKEN, FETCH, REFRESH, INBOX, MARK_SHOWN, KEYS, STORE, PRESENT, TIME_WILL_EXPIRE, RESUME,
    /** The channel changes before the push. */
    REGISTER
}

/** How long it goes wrong. */
enum class FaultLength {
    /** Only the first time at the stage. */
    ONCE,
    /** From the stage to the end of the wake. */
    LASTING
}
