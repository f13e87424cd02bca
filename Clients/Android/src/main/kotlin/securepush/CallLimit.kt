package securepush

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference

/**
 * Bounds the calls of one part of the platform: the Keystore, the notification manager or a store of the app may not
 * answer. An interrupt does not end a call: what was shown has to be noted.
 */
internal class CallLimit(private val clock: ClientClock, private val threads: ClientThreads) {
    /** It takes too long. */
    class Overdue : Exception()

    @Volatile private var isStuck = false
    @Volatile private var lastCall = 0L
    /** The calls that have not ended in time. Each keeps a thread. */
    private val overdue = AtomicInteger()

    /** @throws Overdue if the work takes too long, and what the work throws. */
    fun <R> run(work: () -> R): R {
        val now = clock.uptime
        if (isStuck && overdue.get() >= MAX_OVERDUE && now - lastCall < MILLIS) throw Overdue()
        lastCall = now
        val ending = AtomicReference<Result<R>>()
        val done = threads.newSignal()
        threads.start {
            if (!ending.compareAndSet(null, runCatching(work))) overdue.decrementAndGet()
            done.set()
        }
        await(done)
        if (ending.compareAndSet(null, Result.failure(Overdue()))) overdue.incrementAndGet()
        val end = ending.get()
        isStuck = end.exceptionOrNull() is Overdue
        return end.getOrThrow()
    }

    private fun await(done: ClientSignal) {
        val end = clock.uptime + if (isStuck) MILLIS_WHEN_STUCK else MILLIS
        var isInterrupted = Thread.interrupted()
        while (true) {
            try {
                done.await(maxOf(0, end - clock.uptime))
                break
            } catch (e: InterruptedException) {
                isInterrupted = true
            }
        }
        if (isInterrupted) Thread.currentThread().interrupt()
    }

    private companion object {
        /** Much longer than any call that works. */
        const val MILLIS = 5_000L
        /** After a call that did not end, the next ones have less until one ends: a wake makes many. */
        const val MILLIS_WHEN_STUCK = 100L
        /** With more of them, one is tried now and then. */
        const val MAX_OVERDUE = 8
    }
}
