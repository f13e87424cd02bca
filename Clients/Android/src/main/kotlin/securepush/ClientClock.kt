package securepush

/** The time. Tests inject a simulated one. */
interface ClientClock {
    /** The time of day in milliseconds since 1970. It can jump, so only ages of hours and days are measured with it. */
    val date: Long

    /**
     * Milliseconds since the start of the device, or another moment that is the same for all processes of the app. It
     * never goes backwards. Deadlines are measured with it, and the time that another process has for its work.
     */
    val uptime: Long

    /** Waits this many milliseconds; not at all for a number that is not positive. */
    @Throws(InterruptedException::class)
    fun sleep(millis: Long)
}

/** The clock of the Java virtual machine. On Android, `AndroidClock` also counts the time that the device sleeps. */
class SystemClientClock : ClientClock {
    override val date: Long get() = System.currentTimeMillis()

    override val uptime: Long get() = System.nanoTime() / 1_000_000

    override fun sleep(millis: Long) {
        if (millis > 0) Thread.sleep(millis)
    }
}
