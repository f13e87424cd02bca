package securepush

import java.util.ArrayDeque

/** Lets registrations and departures work one after another, in the order in which they came. */
internal class RegistrationTurns(private val clock: ClientClock, private val threads: ClientThreads) {
    private class Waiter(val signal: ClientSignal) {
        var hasTurn = false
    }

    private val lock = Any()
    private val waiting = ArrayDeque<Waiter>()
    private var isTaken = false

    /**
     * Works when all that came before have ended.
     *
     * @param deadline the [ClientClock.uptime] at which the wait ends.
     * @throws SecurePushFailure with `SP-TIMEOUT` if the turn does not come in time, or the thread is interrupted. The
     *   next one still waits for those that came before.
     */
    fun <R> take(deadline: Long, work: () -> R): R {
        try {
            enter(deadline)
            try {
                return work()
            } finally {
                leave()
            }
        } catch (e: InterruptedException) {
            Thread.currentThread().interrupt()
            throw SecurePushFailure(DiagnosticCode.TIMED_OUT)
        }
    }

    private fun enter(deadline: Long) {
        val own = Waiter(threads.newSignal())
        synchronized(lock) {
            if (!isTaken) {
                isTaken = true
                return
            }
            waiting.add(own)
        }
        var isOver = true
        try {
            own.signal.await(maxOf(0, deadline - clock.uptime))
            isOver = false
        } finally {
            // Whatever ends the wait, a turn that has come is passed on.
            if (isOver && !cancel(own)) leave()
        }
        if (cancel(own)) throw SecurePushFailure(DiagnosticCode.TIMED_OUT)
    }

    /** @return whether the turn has not come, and will not. */
    private fun cancel(own: Waiter): Boolean = synchronized(lock) {
        if (!own.hasTurn) waiting.remove(own)
        !own.hasTurn
    }

    private fun leave() {
        val next = synchronized(lock) {
            val next = waiting.poll()
            if (next == null) isTaken = false else next.hasTurn = true
            next
        }
        next?.signal?.set()
    }
}
