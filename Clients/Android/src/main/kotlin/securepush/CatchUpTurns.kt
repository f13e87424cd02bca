package securepush

/** Lets one catch-up serve all wakes that came before it began, and one run at a time. */
internal class CatchUpTurns(private val clock: ClientClock, private val threads: ClientThreads) {
    /** A catch-up that runs or has run. */
    private class Run(
        /** The last wake that came before it began. */
        val lastWake: Int,
        /** [Wake.userChanges] of the wake that began it. */
        val userChanges: Int,
        val done: ClientSignal
    ) {
        @Volatile var report = WakeReport.failed(DiagnosticCode.TIMED_OUT)
    }

    private val lock = Any()
    private var last: Run? = null

    /**
     * Runs the catch-up on this thread, or waits for one that another wake has begun.
     *
     * @param lastWake the number of the last wake.
     */
    fun take(wake: Wake, lastWake: Int, run: () -> WakeReport): WakeReport {
        val (earlier, own) = synchronized(lock) {
            val known = last
            val isServed = known != null && known.lastWake >= wake.number && known.userChanges >= wake.userChanges
            val own = if (isServed) null else Run(lastWake, wake.userChanges, threads.newSignal())
            if (own != null) last = own
            Pair(known, own)
        }
        val isFree = earlier == null || await(earlier, wake)
        if (own == null) {
            // The wake that began the run reports the notifications.
            val report = if (isFree) checkNotNull(earlier).report else WakeReport.failed(DiagnosticCode.TIMED_OUT)
            return report.copy(shown = emptyList(), waiting = emptyList())
        }
        try {
            if (isFree) own.report = run()
        } finally {
            own.done.set()
        }
        return own.report
    }

    private fun await(run: Run, wake: Wake): Boolean = try {
        run.done.await(maxOf(0, wake.deadline + Wake.MILLIS_AFTER_REQUESTS - clock.uptime))
    } catch (e: InterruptedException) {
        Thread.currentThread().interrupt()
        false
    }
}
