package securepush

/** The time, for the fetch plan and the memory of shown IDs. Tests inject a simulated one. */
interface ClientClock {
    /** The time of day in milliseconds since 1970. It can jump, so only ages of days are measured with it. */
    val date: Long

    /** Milliseconds since some moment in the past. It never goes backwards. Deadlines are measured with it. */
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
