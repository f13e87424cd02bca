package securepush.android

import android.os.SystemClock
import securepush.ClientClock

/** The clock of Android, whose uptime also counts the time that the device sleeps. */
class AndroidClock : ClientClock {
    override val date: Long get() = System.currentTimeMillis()

    override val uptime: Long get() = SystemClock.elapsedRealtime()

    override fun sleep(millis: Long) {
        if (millis > 0) Thread.sleep(millis)
    }
}
