package android.os;

/** A stand-in for tests. */
public class SystemClock {
    public static long elapsedRealtime() { return System.nanoTime() / 1_000_000; }
}
