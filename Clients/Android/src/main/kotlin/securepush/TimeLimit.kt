package securepush

import java.util.concurrent.atomic.AtomicReference

/** Runs work that must not take longer than until a deadline. */
internal class TimeLimit(private val clock: ClientClock, private val threads: ClientThreads) {
    /**
     * Runs the work on another thread, and returns at the deadline even if the work does not notice that it was
     * interrupted.
     *
     * @param deadline the [ClientClock.uptime] at which the work is interrupted.
     * @throws TransportException at the deadline ([TransportException.Reason.TIMED_OUT]), and what the work throws.
     */
    @Throws(InterruptedException::class)
    fun <T> run(deadline: Long, work: () -> T): T {
        val ending = AtomicReference<Result<T>>()
        val done = threads.newSignal()
        val thread = threads.start {
            ending.set(runCatching(work))
            done.set()
        }
        val isDone = try {
            done.await(maxOf(0, deadline - clock.uptime))
        } catch (e: InterruptedException) {
            thread.interrupt()
            throw e
        }
        if (!isDone) {
            thread.interrupt()
            throw TransportException(TransportException.Reason.TIMED_OUT)
        }
        return ending.get().getOrThrow()
    }
}
