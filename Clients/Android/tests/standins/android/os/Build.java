package android.os;

/** A stand-in for tests. */
public class Build {
    /** A stand-in for tests. */
    public static class VERSION {
        public static int SDK_INT = 36;
    }
}
