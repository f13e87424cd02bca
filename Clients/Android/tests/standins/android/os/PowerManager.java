package android.os;

/** A stand-in for tests. */
public class PowerManager {
    public static final int PARTIAL_WAKE_LOCK = 1;
    public int held;

    public WakeLock newWakeLock(int level, String tag) { return new WakeLock(); }

    /** A stand-in for tests. */
    public class WakeLock {
        public void setReferenceCounted(boolean value) { }
        public void acquire(long millis) { held += 1; }
        public void release() { held -= 1; }
    }
}
