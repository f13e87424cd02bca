package android.view;

/** A stand-in for tests. */
public interface WindowManager {
    /** A stand-in for tests. */
    class LayoutParams {
        public static final int FLAG_SECURE = 0x2000;
    }
}
